C     A function that keeps constants as numbers and as integers, sets them up at its first call, and is asked for a tolerance.
      SUBROUTINE ROOTS(N, X, Y)
      INTEGER N, I
      DOUBLE PRECISION X(*), Y(*), T, STEP, DCONST
      EXTERNAL DCONST
      DO 20 I = 1, N
        T = 1D0 + X(I)*X(I)
   10   STEP = 0.5D0*(T - (1D0 + X(I)*X(I))/T)
        T = T - STEP
        IF (ABS(STEP) .GT. 4D0*DCONST(2)*T) GO TO 10
        Y(I) = T*DCONST(3)
   20 CONTINUE
      END
      DOUBLE PRECISION FUNCTION DCONST(I)
      INTEGER I, J, READY, HALF(6)
      DOUBLE PRECISION ALL(3)
      SAVE READY, ALL
      EQUIVALENCE (ALL(1), HALF(1))
      DATA READY /0/
      IF (READY .EQ. 1) GO TO 20
      DO 10 J = 1, 6
   10   HALF(J) = 0
      ALL(3) = 1D0
C     The order of the halves, as this number has them; then exponents, by the exponent of one.
      J = 1
      IF (HALF(5) .NE. 0) J = 0
      HALF(1+J) = 1048576
      HALF(3+J) = HALF(5+J) - 54525952
      HALF(5+J) = HALF(5+J) - HALF(1+J)
      READY = 1
   20 IF (I .GE. 1 .AND. I .LE. 3) GO TO 30
      WRITE(*, *) 'DCONST: NO CONSTANT', I
      STOP 1
   30 DCONST = ALL(I)
      END
