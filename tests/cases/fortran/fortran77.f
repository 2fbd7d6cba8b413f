C     Constructs of FORTRAN 77: three-way and computed GO TO, EQUIVALENCE of numbers, a COMMON block under two names.
      SUBROUTINE GOTOS(N, X, Y)
      INTEGER N, I, J, K
      DOUBLE PRECISION X(*), Y, T, TOL
      I = 0
      Y = 0D0
      TOL = 1D-15
   10 I = I + 1
      IF (I .GT. N) GO TO 90
      T = X(I)
      IF (T) 20, 30, 40
   20 Y = Y + T*T
      GO TO 10
   30 Y = Y + 1D0
      GO TO 10
   40 J = 1
   50 T = 0.5D0*(T + X(I)/T)
      IF (ABS(T*T - X(I)) .LT. TOL) GO TO 60
      J = J + 1
      IF (J .LT. 50) GO TO 50
   60 K = MOD(I, 3) + 1
      GO TO (70, 80, 85), K
   70 Y = Y + T
      GO TO 10
   80 Y = Y*T
      GO TO 10
   85 Y = Y + T*X(1)
      GO TO 10
   90 RETURN
      END
      SUBROUTINE EQUIV(N, X, Y)
      INTEGER N, I
      DOUBLE PRECISION X(N), Y(N), A(3), B(3), W(6), AA, BB
      EQUIVALENCE (W(1), A(1)), (W(4), B(1)), (AA, W(2)), (BB, W(6))
      DO 10 I = 1, 3
      A(I) = X(I)
   10 B(I) = X(I)**2
      AA = AA*2
      DO 20 I = 1, N
   20 Y(I) = W(I)*BB
      END
      SUBROUTINE COMEQ(N, X, Y)
      INTEGER N, I
      DOUBLE PRECISION X(N), Y
      DOUBLE PRECISION C1, C2, C(2)
      COMMON /PAR/ C1, C2
      EQUIVALENCE (C(1), C1)
      C1 = X(1)
      C2 = X(2)**2
      Y = 0D0
      DO 20 I = 1, N
   20 CALL ADDC(X(I), Y)
      Y = Y + C(2)
      END
      SUBROUTINE ADDC(X, Y)
      DOUBLE PRECISION X, Y
      COMMON /PAR/ C(2)
      DOUBLE PRECISION C
      Y = Y + C(1)*X + C(2)*X*X
      END
