C     A message routine of the time before CHARACTER: it takes the text
C     as integers, and its callers pass a character constant, which
C     brings a hidden length that the routine does not have. A variable
C     in COMMON goes through both.
      SUBROUTINE RELAX(N, X, Y)
      INTEGER N, I
      DOUBLE PRECISION X(N), Y(N), RATE
      COMMON /HMSG01/ RATE
      RATE = 0.5D0 + 0.1D0 * X(1)
      DO 10 I = 1, N
        IF (X(I) .GT. 1.0D6) CALL REPORT(
     1    'RELAX -- X IS TOO LARGE HERE    ', 32, 1, X(I))
        Y(I) = X(I) * DEXP(-RATE * X(I))
   10 CONTINUE
      RETURN
      END

      SUBROUTINE REPORT(MSG, NMES, LEVEL, VALUE)
      INTEGER NMES, LEVEL
      INTEGER MSG(NMES)
      DOUBLE PRECISION VALUE, RATE
      COMMON /HMSG01/ RATE
      IF (LEVEL .GT. 1) RATE = VALUE
      WRITE (6, 20) MSG(1), VALUE
   20 FORMAT (1X, I12, E12.4)
      RETURN
      END
