/* The MPI calls of ffgrad itself, compiled with the user's own mpi.h and linked into artifacts of MPI programs. */
#include <mpi.h>
#include <stdlib.h>

static void stop(void) {
  int over;
  MPI_Finalized(&over);
  if (!over) MPI_Finalize();
}

/* Starts MPI where nobody has yet (mpi4py does when it is imported). 0, or MPI's error. */
int ffgrad_mpi_start(void) {
  int running, over, level;
  MPI_Initialized(&running);
  MPI_Finalized(&over);
  if (running || over) return 0;
  int error = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
  if (error == MPI_SUCCESS) atexit(stop);
  return error;
}

/* Sums numbers over all ranks, in place. */
void ffgrad_mpi_sum(double *numbers, int count) {
  MPI_Allreduce(MPI_IN_PLACE, numbers, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
