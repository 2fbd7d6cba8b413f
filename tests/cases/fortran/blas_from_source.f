C     A factorisation that calls routines of BLAS, which stand in the same source, and one of that name with other arguments.
      SUBROUTINE SOLVE(N, A, B, X)
      INTEGER N, I, J, K
      DOUBLE PRECISION A(N,N), B(N), X(N), L(20,20), T, DDOT
      EXTERNAL DDOT
      DO 20 J = 1, N
        CALL DCOPY(N-J+1, A(J,J), 1, L(J,J), 1)
        DO 10 I = 1, J-1
          DO 5 K = J, N
    5     L(K,J) = L(K,J) - L(J,I)*L(K,I)
   10   CONTINUE
        T = 1D0/SQRT(L(J,J))
        CALL DSCAL(N-J+1, T, L(J,J), 1)
   20 CONTINUE
      DO 30 I = 1, N
        X(I) = (B(I) - DDOT(I-1, L(I,1), 20, X, 1))/L(I,I)
   30 CONTINUE
      DO 40 I = N, 1, -1
        X(I) = (X(I) - DDOT(N-I, L(I+1,I), 1, X(I+1), 1))/L(I,I)
   40 CONTINUE
      IF (N .GT. 1) CALL DROT(X(1), X(2), B(1))
      END
      RECURSIVE FUNCTION DDOT(N, X, INCX, Y, INCY) RESULT(S)
C     By halves, which rounds less.
      INTEGER N, INCX, INCY, K
      DOUBLE PRECISION X(*), Y(*), S
      S = 0D0
      IF (N .LE. 0) RETURN
      IF (N .EQ. 1) THEN
        S = X(1)*Y(1)
      ELSE
        K = N/2
        S = DDOT(K, X, INCX, Y, INCY)
     1    + DDOT(N-K, X(1+K*INCX), INCX, Y(1+K*INCY), INCY)
      END IF
      END
      SUBROUTINE DSCAL(N, A, X, INCX)
      INTEGER N, INCX, I
      DOUBLE PRECISION A, X(*)
      DO 10 I = 0, N-1
   10   X(1+I*INCX) = A*X(1+I*INCX)
      END
      SUBROUTINE DCOPY(N, X, INCX, Y, INCY)
      INTEGER N, INCX, INCY, I
      DOUBLE PRECISION X(*), Y(*)
      DO 10 I = 0, N-1
   10   Y(1+I*INCY) = X(1+I*INCX)
      END
      SUBROUTINE DROT(X, Y, ANGLE)
      DOUBLE PRECISION X, Y, ANGLE, T
      T = COS(ANGLE)*X - SIN(ANGLE)*Y
      Y = SIN(ANGLE)*X + COS(ANGLE)*Y
      X = T
      END
