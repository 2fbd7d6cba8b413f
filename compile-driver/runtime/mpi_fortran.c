/* MPI's Fortran procedures on its C functions, which Enzyme can differentiate.
 *
 * Compiled with the user's own mpi.h and linked to Fortran sources with the option mpi=True, in derivatives and in the function itself. The
 * driver gives the numbers of handles in Fortran as macros, from mpif.h: `F_MPI_SUM` and so on. So the usual handles are
 * constants of C when they reach Enzyme, which wants to see them.
 *
 * Fortran's requests are integers, too small for the address that Enzyme keeps in one: they are places in a table, and
 * the table has a shadow (core-ad/llvm/src/workarounds/inactive_globals.rs).
 */
#include <ffgrad/derivatives.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#define INLINE __attribute__((always_inline))
typedef const int *Int;

/* Where a common block of mpif.h is not used, it is nowhere. */
extern int mpi_fortran_in_place_ __attribute__((weak));

FFGRAD_INACTIVE(MPI_Comm_f2c);
FFGRAD_INACTIVE(MPI_Type_f2c);
FFGRAD_INACTIVE(MPI_Op_f2c);

INLINE static MPI_Comm comm_of(int f) { return f == F_MPI_COMM_WORLD ? MPI_COMM_WORLD : MPI_Comm_f2c(f); }

INLINE static MPI_Datatype type_of(int f) {
  if (f == F_MPI_DOUBLE_PRECISION || f == F_MPI_REAL8) return MPI_DOUBLE;
  if (f == F_MPI_REAL || f == F_MPI_REAL4) return MPI_FLOAT;
  if (f == F_MPI_INTEGER) return MPI_INT;
  return MPI_Type_f2c(f);
}

INLINE static MPI_Op op_of(int f) {
  if (f == F_MPI_SUM) return MPI_SUM;
  if (f == F_MPI_MAX) return MPI_MAX;
  if (f == F_MPI_MIN) return MPI_MIN;
  return MPI_Op_f2c(f);
}

/* MPI_IN_PLACE is a variable of Fortran's. What it stands for is what is received into, copied: Enzyme has no derivative of
 * the real thing. */
#define IN_PLACE(data) (&mpi_fortran_in_place_ && (const void *)(data) == (const void *)&mpi_fortran_in_place_)

/* Both a number and a status have the same form in both languages. */
#define STATUS ((MPI_Status *)status)

INLINE void mpi_comm_rank_(Int comm, int *rank, int *error) { *error = MPI_Comm_rank(comm_of(*comm), rank); }
INLINE void mpi_comm_size_(Int comm, int *size, int *error) { *error = MPI_Comm_size(comm_of(*comm), size); }
INLINE void mpi_barrier_(Int comm, int *error) { *error = MPI_Barrier(comm_of(*comm)); }
INLINE double mpi_wtime_(void) { return MPI_Wtime(); }

INLINE void mpi_send_(const void *data, Int count, Int type, Int to, Int tag, Int comm, int *error) {
  *error = MPI_Send(data, *count, type_of(*type), *to, *tag, comm_of(*comm));
}

INLINE void mpi_recv_(void *data, Int count, Int type, Int from, Int tag, Int comm, int *status, int *error) {
  *error = MPI_Recv(data, *count, type_of(*type), *from, *tag, comm_of(*comm), STATUS);
}

/* Other requests than OpenMPI's are too small for an address: programs that use them do not link. */
#ifdef OPEN_MPI
INLINE void mpi_sendrecv_(const void *data, Int count, Int type, Int to, Int tag, void *received, Int count_received,
                          Int type_received, Int from, Int tag_received, Int comm, int *status, int *error) {
  /* Both nonblocking: Enzyme stops where only one of the two is called. */
  MPI_Request receiving, sending;
  MPI_Irecv(received, *count_received, type_of(*type_received), *from, *tag_received, comm_of(*comm), &receiving);
  MPI_Isend(data, *count, type_of(*type), *to, *tag, comm_of(*comm), &sending);
  MPI_Wait(&sending, MPI_STATUS_IGNORE);
  *error = MPI_Wait(&receiving, STATUS);
}

/* Pending messages, at most this many at a time. */
#define MOST 4096
MPI_Request ffgrad_mpi_requests[MOST], ffgrad_mpi_requests_shadow[MOST];
static int started;

INLINE static int place(void) {
  started = (started + 1) % MOST;
  return started;
}

INLINE void mpi_isend_(const void *data, Int count, Int type, Int to, Int tag, Int comm, int *request, int *error) {
  int own = place();
  *request = own;
  *error = MPI_Isend(data, *count, type_of(*type), *to, *tag, comm_of(*comm), &ffgrad_mpi_requests[own]);
}

INLINE void mpi_irecv_(void *data, Int count, Int type, Int from, Int tag, Int comm, int *request, int *error) {
  int own = place();
  *request = own;
  *error = MPI_Irecv(data, *count, type_of(*type), *from, *tag, comm_of(*comm), &ffgrad_mpi_requests[own]);
}

INLINE void mpi_wait_(int *request, int *status, int *error) {
  *error = MPI_Wait(&ffgrad_mpi_requests[*request], STATUS);
}

INLINE void mpi_waitall_(Int count, int *requests, int *statuses, int *error) {
  for (int i = 0; i < *count; i++) *error = MPI_Wait(&ffgrad_mpi_requests[requests[i]], MPI_STATUS_IGNORE);
}

#endif

INLINE void mpi_bcast_(void *data, Int count, Int type, Int root, Int comm, int *error) {
  *error = MPI_Bcast(data, *count, type_of(*type), *root, comm_of(*comm));
}

INLINE void mpi_reduce_(const void *data, void *sum, Int count, Int type, Int op, Int root, Int comm, int *error) {
  *error = MPI_Reduce(data, sum, *count, type_of(*type), op_of(*op), *root, comm_of(*comm));
}

INLINE void mpi_allreduce_(const void *data, void *sum, Int count, Int type, Int op, Int comm, int *error) {
  if (!IN_PLACE(data)) {
    *error = MPI_Allreduce(data, sum, *count, type_of(*type), op_of(*op), comm_of(*comm));
    return;
  }
  int size = *type == F_MPI_REAL || *type == F_MPI_REAL4 || *type == F_MPI_INTEGER ? 4 : 8;
  void *copy = malloc((size_t)*count * size);
  memcpy(copy, sum, (size_t)*count * size);
  *error = MPI_Allreduce(copy, sum, *count, type_of(*type), op_of(*op), comm_of(*comm));
  free(copy);
}
