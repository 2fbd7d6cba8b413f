C     A routine that reports by a procedure of its own, which makes a text of several pieces, line by line.
      SUBROUTINE GROWTH(N, X, Y)
      INTEGER N, I
      DOUBLE PRECISION X(*), Y(*)
      CHARACTER*8 WHERE
      DO 10 I = 1, N
        IF (X(I) .LE. -1D3) THEN
          WRITE(WHERE, '(I8)') I
          CALL REPORT('MODEL', 'GROWTH',
     *      'NUMBER ' // WHERE // ' IS SMALL', I, 1 + I/1000)
        END IF
        Y(I) = X(I)*EXP(-X(I)*X(I))
   10 CONTINUE
      END
      SUBROUTINE REPORT(LIBRAR, ROUTIN, TEXT, NUMBER, LEVEL)
      CHARACTER*(*) LIBRAR, ROUTIN, TEXT
      CHARACTER*72 LINE
      INTEGER NUMBER, LEVEL, I
      LINE(1:13) = 'MESSAGE FROM '
      I = MIN(LEN(ROUTIN), 16)
      LINE(14:13+I) = ROUTIN(1:I)
      LINE(14+I:22+I) = ' LIBRARY '
      LINE(23+I:72) = LIBRAR
      CALL SHOW(' *', LINE(1:22+I) // LIBRAR, 40)
      CALL SHOW(' *', TEXT, 40)
      IF (LEVEL .GT. 1) THEN
        WRITE(LINE, '(''ERROR NUMBER = '', I8)') NUMBER
        DO 20 I = 16, 22
          IF (LINE(I:I) .NE. ' ') GO TO 30
   20   CONTINUE
   30   CALL SHOW(' *', LINE(1:15) // LINE(I:23), 40)
      END IF
      END
      SUBROUTINE SHOW(PREFIX, TEXT, WIDTH)
      CHARACTER*(*) PREFIX, TEXT
      CHARACTER*148 LINE
      INTEGER WIDTH, FROM, SIZE, I
      FROM = 1
   10 IF (FROM .GT. LEN(TEXT)) RETURN
      SIZE = MIN(WIDTH, LEN(TEXT) + 1 - FROM)
      I = INDEX(TEXT(FROM:FROM+SIZE-1), '$$')
      IF (I .GT. 1) SIZE = I - 1
      LINE(1:LEN(PREFIX)) = PREFIX
      LINE(LEN(PREFIX)+1:LEN(PREFIX)+SIZE) = TEXT(FROM:FROM+SIZE-1)
      WRITE(*, '(A)') LINE(1:LEN(PREFIX)+SIZE)
      FROM = FROM + SIZE
      GO TO 10
      END
