C     One work array for several arrays of a solver: cleared, filled and copied in parts, by another routine than the one that uses it.
      SUBROUTINE SMOOTH(N, X, Y, W)
      INTEGER N
      DOUBLE PRECISION X(N), Y(N), W(*)
      CALL PARTS(N, X, W(1), W(N+1), W(2*N+1), 1)
      CALL PARTS(N, X, W(1), W(N+1), W(2*N+1), 2)
      CALL RESULT(N, W(1), W(N+1), W(2*N+1), Y)
      END
      SUBROUTINE PARTS(N, X, A, B, C, JOB)
      INTEGER N, JOB, I, J
      DOUBLE PRECISION X(N), A(*), B(*), C(*)
      IF (JOB .EQ. 2) GO TO 40
      DO 10 I = 1, N*N
   10   C(I) = 0D0
      DO 20 I = 1, N
   20   B(I) = 0D0
      DO 30 I = 1, N
   30   A(I) = X(I)
      RETURN
   40 DO 60 I = 1, N
        DO 50 J = 1, I
   50     C((J-1)*N + I) = X(I)*A(J)
   60   B(I) = B(I) + A(I)**2
      END
      SUBROUTINE RESULT(N, A, B, C, Y)
      INTEGER N, I, J
      DOUBLE PRECISION A(N), B(N), C(N, N), Y(N)
      DO 10 I = 1, N
   10   Y(I) = A(I)*B(I)
      DO 20 J = 1, N
        DO 20 I = 1, N
   20     Y(I) = Y(I) + C(I, J)*B(J)
      END
