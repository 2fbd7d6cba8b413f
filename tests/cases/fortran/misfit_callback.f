C     A solver takes a function for roots beside the equations, and asks for it where the number of roots is positive. A user who wants no
C     roots passes the subroutine of the equations in its place.
      SUBROUTINE MISFIT(N, Y0, H, Y)
      INTEGER N, I
      DOUBLE PRECISION Y0(*), H, Y(*)
      EXTERNAL DECAY
      DO 10 I = 1, N
        Y(I) = Y0(I)
   10 CONTINUE
      CALL MARCH(N, Y, H, DECAY, 0, DECAY)
      END
      SUBROUTINE MARCH(N, Y, H, F, NROOT, G)
      INTEGER N, NROOT, I, STEP
      DOUBLE PRECISION Y(*), H, T, DY(50), G
      EXTERNAL F, G
      T = 0D0
      DO 20 STEP = 1, 4
        CALL F(N, T, Y, DY)
        DO 10 I = 1, N
          Y(I) = Y(I) + H*DY(I)
   10   CONTINUE
        T = T + H
        IF (NROOT .GT. 0) THEN
          IF (G(N, T, Y, NROOT) .LT. 0D0) RETURN
        END IF
   20 CONTINUE
      END
      SUBROUTINE DECAY(N, T, Y, DY)
      INTEGER N, I
      DOUBLE PRECISION T, Y(*), DY(*)
      DO 10 I = 1, N
        DY(I) = -Y(I)*Y(I)*(1D0 + T)
   10 CONTINUE
      END
