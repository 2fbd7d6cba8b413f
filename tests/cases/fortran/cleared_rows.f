C     A number that moves from row to row, and memory that loops clear and nothing else of the routine touches.
      SUBROUTINE ROWS(N, X, Y, W)
      INTEGER N, I, J, K
      DOUBLE PRECISION X(N), Y(N), W(*), D
      K = N/2
      CALL CLEAR(N, W(K*N+1))
      D = X(N)
      DO 20 J = 1, N
        I = MOD(J*K, N)
        W(I*N+J) = D
        IF (X(J) .GT. 0D0) D = X(J)
   20 CONTINUE
      DO 30 J = 1, N
        I = MOD(J*K, N)
   30 Y(J) = W(I*N+J)
      END
      SUBROUTINE CLEAR(N, A)
      INTEGER N, I
      DOUBLE PRECISION A(*)
      DO 10 I = 1, N
   10   A(I) = 0D0
      END
