C     LEGACY_COLUMN -- ONE-DIMENSIONAL REACTING COLUMN, IN THE STYLE OF
C     THE PROGRAMS OF THE EIGHTIES: FIXED FORM, IMPLICIT TYPING, COMMON
C     BLOCKS WITH CONSTANTS, STATEMENT FUNCTIONS, LABELLED LOOPS,
C     ARITHMETIC IF, WORK ARRAYS PASSED DOWN, ADJUSTABLE DIMENSIONS.
C
C     A COLUMN OF NZ CELLS HOLDS A LIQUID OF CONCENTRATION C AND
C     TEMPERATURE T.  EACH STEP: UPWIND ADVECTION, IMPLICIT DIFFUSION
C     (THOMAS ALGORITHM), AN ARRHENIUS REACTION INTEGRATED BY RUNGE AND
C     KUTTA, A HEAT LOSS BY A TABLE, LIMITERS.  WRITTEN FOR FFGRAD.
C
C***********************************************************************
      SUBROUTINE COLUMN(NZ, NSTEP, C, T, U, D, RATE, OUTLET)
C     NZ      NUMBER OF CELLS
C     NSTEP   NUMBER OF STEPS
C     C, T    PROFILES AT THE START (NOT CHANGED)
C     U       VELOCITY IN EACH CELL
C     D       DIFFUSIVITY
C     RATE    PRE-EXPONENTIAL FACTOR
C     OUTLET  OUT: MEAN CONCENTRATION AND TEMPERATURE AT THE OUTLET,
C             TOTAL MASS AND A MEASURE OF ROUGHNESS AT THE END
      INTEGER NZ, NSTEP
      DOUBLE PRECISION C(NZ), T(NZ), U(NZ), D, RATE, OUTLET(4)
      INTEGER MAXNZ
      PARAMETER (MAXNZ = 64)
      DOUBLE PRECISION CW(MAXNZ), TW(MAXNZ), WORK(MAXNZ, 4)
      DOUBLE PRECISION DT, DX, CMEAN, TMEAN, TOTAL, ROUGH
      INTEGER I, ISTEP
      DOUBLE PRECISION TABX(5), TABY(5)
      COMMON /LOSSES/ TABX, TABY
      DOUBLE PRECISION EACT, TREF, HEAT
      COMMON /KINET/ EACT, TREF, HEAT
C
      OUTLET(1) = 0.0D0
      OUTLET(2) = 0.0D0
      OUTLET(3) = 0.0D0
      OUTLET(4) = 0.0D0
      IF (NZ .LT. 3 .OR. NZ .GT. MAXNZ) RETURN
      DX = 1.0D0 / DBLE(NZ)
      DT = 0.2D0 * DX
      DO 10 I = 1, NZ
         CW(I) = C(I)
         TW(I) = T(I)
   10 CONTINUE
      CMEAN = 0.0D0
      TMEAN = 0.0D0
C
      DO 100 ISTEP = 1, NSTEP
         CALL ADVECT(NZ, CW, U, DT, DX, WORK(1, 1))
         CALL ADVECT(NZ, TW, U, DT, DX, WORK(1, 1))
         CALL DIFFUS(NZ, CW, D, DT, DX, WORK, MAXNZ)
         CALL DIFFUS(NZ, TW, 1.5D0 * D, DT, DX, WORK, MAXNZ)
         CALL REACT(NZ, CW, TW, RATE, DT)
         CALL COOL(NZ, TW, DT)
         CMEAN = CMEAN + CW(NZ)
         TMEAN = TMEAN + TW(NZ)
  100 CONTINUE
C
      TOTAL = 0.0D0
      ROUGH = 0.0D0
      DO 200 I = 1, NZ
         TOTAL = TOTAL + CW(I) * DX
         IF (I .EQ. 1) GOTO 200
         ROUGH = ROUGH + (TW(I) - TW(I-1))**2 / DX
  200 CONTINUE
      OUTLET(1) = CMEAN / DBLE(NSTEP)
      OUTLET(2) = TMEAN / DBLE(NSTEP)
      OUTLET(3) = TOTAL
      OUTLET(4) = ROUGH
      RETURN
      END
C***********************************************************************
      SUBROUTINE ADVECT(N, Q, U, DT, DX, FLUX)
C     UPWIND DIFFERENCES; THE INFLOW HAS THE VALUE OF THE FIRST CELL,
C     DAMPED.
      INTEGER N
      DOUBLE PRECISION Q(N), U(N), DT, DX, FLUX(N)
      INTEGER I
      DOUBLE PRECISION QIN, COUR
      DOUBLE PRECISION UPWIND, A, QL, QR
C     STATEMENT FUNCTION: THE VALUE CARRIED ACROSS A FACE
      UPWIND(A, QL, QR) = 0.5D0*(A + ABS(A))*QL + 0.5D0*(A - ABS(A))*QR
C
      QIN = 0.9D0 * Q(1)
      COUR = DT / DX
      FLUX(1) = UPWIND(U(1), QIN, Q(1))
      DO 10 I = 2, N
         FLUX(I) = UPWIND(0.5D0*(U(I-1) + U(I)), Q(I-1), Q(I))
   10 CONTINUE
      DO 20 I = 1, N - 1
         Q(I) = Q(I) - COUR * (FLUX(I+1) - FLUX(I))
   20 CONTINUE
      Q(N) = Q(N) - COUR * (U(N)*Q(N) - FLUX(N))
      RETURN
      END
C***********************************************************************
      SUBROUTINE DIFFUS(N, Q, D, DT, DX, W, LDW)
C     ONE IMPLICIT STEP OF DIFFUSION, NO FLUX AT BOTH ENDS.
      INTEGER N, LDW
      DOUBLE PRECISION Q(N), D, DT, DX, W(LDW, *)
      DOUBLE PRECISION R
      INTEGER I
      R = D * DT / (DX * DX)
      DO 10 I = 1, N
         W(I, 1) = -R
         W(I, 2) = 1.0D0 + 2.0D0 * R
         W(I, 3) = -R
         W(I, 4) = Q(I)
   10 CONTINUE
      W(1, 2) = 1.0D0 + R
      W(N, 2) = 1.0D0 + R
      W(1, 1) = 0.0D0
      W(N, 3) = 0.0D0
      CALL THOMAS(N, W(1, 1), W(1, 2), W(1, 3), W(1, 4), Q)
      RETURN
      END
C***********************************************************************
      SUBROUTINE THOMAS(N, A, B, C, R, X)
C     TRIDIAGONAL SYSTEM: A BELOW, B ON, C ABOVE THE DIAGONAL; B AND R
C     ARE OVERWRITTEN.
      INTEGER N, I
      DOUBLE PRECISION A(*), B(*), C(*), R(*), X(*), F
      DO 10 I = 2, N
         F = A(I) / B(I-1)
         B(I) = B(I) - F * C(I-1)
         R(I) = R(I) - F * R(I-1)
   10 CONTINUE
      X(N) = R(N) / B(N)
      DO 20 I = N - 1, 1, -1
         X(I) = (R(I) - C(I) * X(I+1)) / B(I)
   20 CONTINUE
      RETURN
      END
C***********************************************************************
      SUBROUTINE REACT(N, C, T, RATE, DT)
C     C' = -K(T) C,  T' = HEAT K(T) C, BY THE CLASSICAL METHOD OF RUNGE
C     AND KUTTA, CELL BY CELL.
      INTEGER N
      DOUBLE PRECISION C(N), T(N), RATE, DT
      DOUBLE PRECISION Y(2), Y1(2), DY(2), SUM(2)
      INTEGER I, J, K
      DOUBLE PRECISION WEIGHT(4), FRACT(4)
      DATA WEIGHT /1.0D0, 2.0D0, 2.0D0, 1.0D0/
      DATA FRACT /0.5D0, 0.5D0, 1.0D0, 0.0D0/
      DO 100 I = 1, N
         Y(1) = C(I)
         Y(2) = T(I)
         Y1(1) = Y(1)
         Y1(2) = Y(2)
         SUM(1) = 0.0D0
         SUM(2) = 0.0D0
         DO 50 K = 1, 4
            CALL RHS(Y1, RATE, DY)
            DO 40 J = 1, 2
               SUM(J) = SUM(J) + WEIGHT(K) * DY(J)
               Y1(J) = Y(J) + FRACT(K) * DT * DY(J)
   40       CONTINUE
   50    CONTINUE
         C(I) = Y(1) + DT / 6.0D0 * SUM(1)
         T(I) = Y(2) + DT / 6.0D0 * SUM(2)
C        ARITHMETIC IF: NEGATIVE, ZERO, POSITIVE
         IF (C(I)) 60, 100, 100
   60    C(I) = 0.0D0
  100 CONTINUE
      RETURN
      END
C***********************************************************************
      SUBROUTINE RHS(Y, RATE, DY)
      IMPLICIT DOUBLE PRECISION (A-H, O-Z)
      DIMENSION Y(2), DY(2)
      COMMON /KINET/ EACT, TREF, HEAT
      RK = RATE * EXP(EACT * (1.0D0 - TREF / Y(2)))
      DY(1) = -RK * Y(1)
      DY(2) = HEAT * RK * Y(1)
      RETURN
      END
C***********************************************************************
      SUBROUTINE COOL(N, T, DT)
C     LOSS OF HEAT BY LINEAR INTERPOLATION IN A TABLE.
      IMPLICIT DOUBLE PRECISION (A-H, O-Z)
      INTEGER N
      DIMENSION T(N)
      COMMON /LOSSES/ TABX(5), TABY(5)
      DO 30 I = 1, N
         K = 1
   10    IF (K .GE. 4) GOTO 20
         IF (T(I) .LT. TABX(K+1)) GOTO 20
         K = K + 1
         GOTO 10
   20    CONTINUE
         S = (T(I) - TABX(K)) / (TABX(K+1) - TABX(K))
         T(I) = T(I) - DT * (TABY(K) + S * (TABY(K+1) - TABY(K)))
   30 CONTINUE
      RETURN
      END
C***********************************************************************
      BLOCK DATA CONSTS
      DOUBLE PRECISION TABX(5), TABY(5)
      COMMON /LOSSES/ TABX, TABY
      DOUBLE PRECISION EACT, TREF, HEAT
      COMMON /KINET/ EACT, TREF, HEAT
      DATA TABX /0.0D0, 0.8D0, 1.1D0, 1.6D0, 4.0D0/
      DATA TABY /0.0D0, 0.05D0, 0.2D0, 0.5D0, 3.0D0/
      DATA EACT /6.0D0/, TREF /1.0D0/, HEAT /0.4D0/
      END
