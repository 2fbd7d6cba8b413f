C     The oldest style: fixed form, implicit types, labels, a computed exit.
      SUBROUTINE DAXPBY(N, A, X, B, Y)
      INTEGER N
      DOUBLE PRECISION A, B, X(*), Y(*)
      INTEGER I
      IF (N .LE. 0) GOTO 20
      DO 10 I = 1, N
         Y(I) = A*X(I) + B*Y(I)*Y(I)
   10 CONTINUE
   20 RETURN
      END
