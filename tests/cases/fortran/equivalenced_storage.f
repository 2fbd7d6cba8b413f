C     Integers are declared, a number is kept in their place, and is found at the first call.
      SUBROUTINE SCALED(N, X, Y)
      INTEGER N, I
      DOUBLE PRECISION X(*), Y(*), LARGE
      EXTERNAL LARGE
      DO 10 I = 1, N
        Y(I) = X(I)*X(I)*LARGE(I)
   10 CONTINUE
      END

      DOUBLE PRECISION FUNCTION LARGE(K)
      INTEGER K, WORDS(4)
      DOUBLE PRECISION BIG, STEP
      EQUIVALENCE (BIG, WORDS(1))
      SAVE BIG, STEP
      DATA BIG/0.D0/, STEP/-1.D0/
      IF (BIG .GT. 0.D0) GO TO 1
        BIG = 3.D0
        STEP = 0.5D0
    1 CONTINUE
      LARGE = BIG + STEP*K
      END
