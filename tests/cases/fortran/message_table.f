C     A series that reports what it meets. The reports are counted in saved tables of texts and numbers, from two levels of calls.
      SUBROUTINE SERIES(N, X, Y)
      INTEGER N, I
      DOUBLE PRECISION X(*), Y(*), TERMS
      DO 10 I = 1, N
        IF (ABS(X(I)) .GT. 1D2) CALL REPORT('SERIES', 'X IS LARGE', 1)
        Y(I) = TERMS(X(I)) + TERMS(0.5D0*X(I))
   10 CONTINUE
      END
      DOUBLE PRECISION FUNCTION TERMS(X)
      INTEGER K
      DOUBLE PRECISION X, TERM
      TERM = 1D0
      TERMS = 1D0
      DO 10 K = 1, 30
        TERM = TERM*X/K
        TERMS = TERMS + TERM
        IF (ABS(TERM) .LT. 1D-18*ABS(TERMS)) RETURN
   10 CONTINUE
      CALL REPORT('TERMS', 'NO CONVERGENCE IN 30 TERMS', 2)
      END
      SUBROUTINE REPORT(ROUTIN, TEXT, LEVEL)
      CHARACTER*(*) ROUTIN, TEXT
      CHARACTER*8 NAMES(10), NAME
      CHARACTER*20 TEXTS(10), SHORT
      INTEGER LEVEL, LEVELS(10), COUNTS(10), USED, I
      SAVE NAMES, TEXTS, LEVELS, COUNTS, USED
      DATA USED /0/
      NAME = ROUTIN
      SHORT = TEXT
      DO 10 I = 1, USED
        IF (NAME .EQ. NAMES(I) .AND. SHORT .EQ. TEXTS(I)
     *      .AND. LEVEL .EQ. LEVELS(I)) THEN
          COUNTS(I) = COUNTS(I) + 1
          RETURN
        END IF
   10 CONTINUE
      IF (USED .LT. 10) THEN
        USED = USED + 1
        NAMES(USED) = NAME
        TEXTS(USED) = SHORT
        LEVELS(USED) = LEVEL
        COUNTS(USED) = 1
      END IF
      CALL PRINT(NAME, SHORT, LEVEL)
      END
      SUBROUTINE PRINT(NAME, SHORT, LEVEL)
      CHARACTER*(*) NAME, SHORT
      CHARACTER*72 LINE
      INTEGER LEVEL
      LINE(1:8) = NAME
      LINE(9:10) = ': '
      LINE(11:30) = SHORT
      IF (LEVEL .GT. 1) WRITE(*, '(A)') LINE(1:30)
      END
