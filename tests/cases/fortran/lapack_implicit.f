C     IMPLICIT EULER STEPS OF A NONLINEAR SYSTEM BY NEWTON'S METHOD,
C     EACH LINEAR SYSTEM SOLVED BY DGESV.
      SUBROUTINE IMPLCT(Y, N, H, NSTEP)
      IMPLICIT DOUBLE PRECISION (A-H, O-Z)
      PARAMETER (NMAX = 8)
      DIMENSION Y(N), YOLD(NMAX), R(NMAX), AJ(NMAX, NMAX), IPIV(NMAX)
      EXTERNAL DGESV, DCOPY, DAXPY
      DO 40 K = 1, NSTEP
        CALL DCOPY(N, Y, 1, YOLD, 1)
        DO 30 IT = 1, 3
          DO 20 J = 1, N
            JP = MOD(J, N) + 1
            R(J) = -(Y(J) - YOLD(J) - H * (Y(JP) - Y(J)**3))
            DO 10 I = 1, N
              AJ(J, I) = 0.0D0
   10       CONTINUE
            AJ(J, J) = 1.0D0 + 3.0D0 * H * Y(J)**2
            AJ(J, JP) = AJ(J, JP) - H
   20     CONTINUE
          CALL DGESV(N, 1, AJ, NMAX, IPIV, R, NMAX, INFO)
          CALL DAXPY(N, 1.0D0, R, 1, Y, 1)
   30   CONTINUE
   40 CONTINUE
      RETURN
      END
