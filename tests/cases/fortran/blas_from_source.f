C     A factorisation that calls routines of BLAS, which stand in the same source, and one of that name with other arguments.
      SUBROUTINE SOLVE(N, A, B, X)
      INTEGER N, I, J
      DOUBLE PRECISION A(N,N), B(N), X(N), L(20,20), T, DDOT
      EXTERNAL DDOT
      DO 20 J = 1, N
        CALL DCOPY(N-J+1, A(J,J), 1, L(J,J), 1)
        DO 10 I = 1, J-1
          CALL DAXPY(N-J+1, -L(J,I), L(J,I), 1, L(J,J), 1)
   10   CONTINUE
        T = 1D0/SQRT(L(J,J))
        CALL DSCAL(N-J+1, T, L(J,J), 1)
   20 CONTINUE
      DO 30 I = 1, N
        X(I) = (B(I) - DDOT(I-1, L(I,1), 20, X, 1))/L(I,I)
   30 CONTINUE
      DO 40 I = N, 1, -1
        X(I) = (X(I) - DDOT(N-I, L(I+1,I), 1, X(I+1), 1))/L(I,I)
   40 CONTINUE
      IF (N .GT. 1) CALL DROT(X(1), X(2), B(1))
      END
      DOUBLE PRECISION FUNCTION DDOT(N, X, INCX, Y, INCY)
      INTEGER N, INCX, INCY, I
      DOUBLE PRECISION X(*), Y(*)
      DDOT = 0D0
      DO 10 I = 0, N-1
   10   DDOT = DDOT + X(1+I*INCX)*Y(1+I*INCY)
      END
      SUBROUTINE DAXPY(N, A, X, INCX, Y, INCY)
      INTEGER N, INCX, INCY, I
      DOUBLE PRECISION A, X(*), Y(*)
      IF (A .EQ. 0D0) RETURN
      DO 10 I = 0, N-1
   10   Y(1+I*INCY) = Y(1+I*INCY) + A*X(1+I*INCX)
      END
      SUBROUTINE DSCAL(N, A, X, INCX)
      INTEGER N, INCX, I
      DOUBLE PRECISION A, X(*)
      DO 10 I = 0, N-1
   10   X(1+I*INCX) = A*X(1+I*INCX)
      END
      SUBROUTINE DCOPY(N, X, INCX, Y, INCY)
      INTEGER N, INCX, INCY, I
      DOUBLE PRECISION X(*), Y(*)
      DO 10 I = 0, N-1
   10   Y(1+I*INCY) = X(1+I*INCX)
      END
      SUBROUTINE DROT(X, Y, ANGLE)
      DOUBLE PRECISION X, Y, ANGLE, T
      T = COS(ANGLE)*X - SIN(ANGLE)*Y
      Y = SIN(ANGLE)*X + COS(ANGLE)*Y
      X = T
      END
