/* MPI programs to be differentiated: point to point, nonblocking, and collective. */
#include <mpi.h>
#include <math.h>
#include <stdlib.h>
/* y = sin(x) * left neighbour's x */
void ring(const double *x, int n, double *y) {
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int left = (rank + size - 1) % size, right = (rank + 1) % size;
  double *from = malloc(n * sizeof *from), *to = malloc(n * sizeof *to);
  for (int i = 0; i < n; i++) to[i] = x[i] * x[i];
  if (rank % 2 == 0) {
    MPI_Send(to, n, MPI_DOUBLE, right, 7, MPI_COMM_WORLD);
    MPI_Recv(from, n, MPI_DOUBLE, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(from, n, MPI_DOUBLE, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(to, n, MPI_DOUBLE, right, 7, MPI_COMM_WORLD);
  }
  for (int i = 0; i < n; i++) y[i] = sin(x[i]) * from[i];
  free(from);
  free(to);
}
double norm(const double *x, int n) {
  double mine = 0, all;
  for (int i = 0; i < n; i++) mine += x[i] * x[i];
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sqrt(all);
}
/* parameters of rank 0 are used by all */
void model(const double *p, const double *x, int k, int n, double *y) {
  double *q = malloc(k * sizeof *q);
  for (int i = 0; i < k; i++) q[i] = p[i] * p[i];
  MPI_Bcast(q, k, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < n; i++) { double s = 0; for (int j = k - 1; j >= 0; j--) s = s * x[i] + q[j]; y[i] = s; }
  free(q);
}
/* halo exchange, several steps, nonblocking */
void heat(const double *u0, int n, int steps, double *u) {
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double *a = malloc((n + 2) * sizeof *a), *b = malloc((n + 2) * sizeof *b);
  for (int i = 0; i < n; i++) a[i + 1] = u0[i];
  a[0] = a[n + 1] = 0;
  for (int k = 0; k < steps; k++) {
    MPI_Request r[4];
    int m = 0;
    if (rank > 0) {
      MPI_Irecv(&a[0], 1, MPI_DOUBLE, rank - 1, 1, MPI_COMM_WORLD, &r[m++]);
      MPI_Isend(&a[1], 1, MPI_DOUBLE, rank - 1, 2, MPI_COMM_WORLD, &r[m++]);
    }
    if (rank < size - 1) {
      MPI_Irecv(&a[n + 1], 1, MPI_DOUBLE, rank + 1, 2, MPI_COMM_WORLD, &r[m++]);
      MPI_Isend(&a[n], 1, MPI_DOUBLE, rank + 1, 1, MPI_COMM_WORLD, &r[m++]);
    }
    for (int j = 0; j < m; j++) MPI_Wait(&r[j], MPI_STATUS_IGNORE);
    for (int i = 1; i <= n; i++) b[i] = a[i] + 0.2 * (a[i - 1] - 2 * a[i] + a[i + 1]) * (1 + a[i]);
    for (int i = 1; i <= n; i++) a[i] = b[i];
  }
  for (int i = 0; i < n; i++) u[i] = a[i + 1];
  free(a);
  free(b);
}

/* Everything is added up on one rank, which sends the others the result. */
double spread(const double *x, int n) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double mine = 0, all = 0, result;
  for (int i = 0; i < n; i++) mine += exp(x[i]) * (rank + 1);
  MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  result = all * all;
  MPI_Bcast(&result, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return result * x[0];
}

/* What the tests themselves add up over the ranks. */
double total(const double *x, int n) {
  double mine = 0, all;
  for (int i = 0; i < n; i++) mine += x[i];
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

/* The number of this rank, plus nothing. */
double my_rank(const double *x, int n) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank + 0 * x[0] * n;
}
