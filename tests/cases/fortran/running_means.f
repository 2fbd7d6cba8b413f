C     A procedure that is called several times in a row, with what it wrote in one call as its input in the next, also in a loop.
      SUBROUTINE TREND(N, X, Y)
      INTEGER N, I
      DOUBLE PRECISION X(N), Y(N), W(40), V(40)
      DO 10 I = 1, N
        W(I) = X(I)
        V(I) = X(N+1-I)
   10 CONTINUE
      CALL MEANS(N, 4, X, W)
      CALL MEANS(N-3, 4, W, V)
      CALL MEANS(N-6, 3, V, W)
      DO 20 I = 1, 2
        CALL MEANS(N-8, 2, W, V)
        CALL MEANS(N-9, 2, V, W)
   20 CONTINUE
      DO 30 I = 1, N
        Y(I) = W(I)*V(I)
   30 CONTINUE
      END
      SUBROUTINE MEANS(N, L, X, A)
      INTEGER N, L, I, K, M
      DOUBLE PRECISION X(N), A(N), V
      V = 0D0
      DO 10 I = 1, L
   10   V = V + X(I)
      A(1) = V/L
      K = L
      M = 0
      DO 20 I = 2, N-L+1
        K = K + 1
        M = M + 1
        V = V - X(M) + X(K)
   20   A(I) = V/L
      END
