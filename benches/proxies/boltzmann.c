// A fluid on a lattice of 19 velocities (D3Q19): collision and streaming, walls that bounce back, a cell's 19 numbers beside one another. The kind of
// LBM in SPEC: one pass over memory a step.
#include <stdlib.h>
#include <string.h>

enum { Q = 19 };
static const int E[Q][3] = {{0, 0, 0},  {1, 0, 0},   {-1, 0, 0}, {0, 1, 0},  {0, -1, 0},  {0, 0, 1},  {0, 0, -1},
                            {1, 1, 0},  {-1, -1, 0}, {1, -1, 0}, {-1, 1, 0}, {1, 0, 1},   {-1, 0, -1}, {1, 0, -1},
                            {-1, 0, 1}, {0, 1, 1},   {0, -1, -1}, {0, 1, -1}, {0, -1, 1}};
static const int BACK[Q] = {0, 2, 1, 4, 3, 6, 5, 8, 7, 10, 9, 12, 11, 14, 13, 16, 15, 18, 17};
static const double W[Q] = {1. / 3,  1. / 18, 1. / 18, 1. / 18, 1. / 18, 1. / 18, 1. / 18, 1. / 36, 1. / 36, 1. / 36,
                            1. / 36, 1. / 36, 1. / 36, 1. / 36, 1. / 36, 1. / 36, 1. / 36, 1. / 36, 1. / 36};

static void collide(const double *f, double omega, const double *push, double *g) {
  double rho = 0, u[3] = {0};
  for (int q = 0; q < Q; q++) {
    rho += f[q];
    for (int d = 0; d < 3; d++) u[d] += E[q][d] * f[q];
  }
  for (int d = 0; d < 3; d++) u[d] = u[d] / rho + push[d];
  double square = 1.5 * (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
  for (int q = 0; q < Q; q++) {
    double along = 3 * (E[q][0] * u[0] + E[q][1] * u[1] + E[q][2] * u[2]);
    g[q] = f[q] + omega * (W[q] * rho * (1 + along + 0.5 * along * along - square) - f[q]);
  }
}

// `model` is the rate of relaxation and the push on the fluid. The lattice is periodic.
static void step(const double *f, const double *model, const int *wall, int nz, int ny, int nx, double *g) {
#pragma omp parallel for
  for (int z = 0; z < nz; z++)
    for (int y = 0; y < ny; y++)
      for (int x = 0; x < nx; x++) {
        int here = (z * ny + y) * nx + x;
        double after[Q];
        if (wall[here])
          for (int q = 0; q < Q; q++) after[q] = f[here * Q + BACK[q]];
        else
          collide(f + here * Q, model[0], model + 1, after);
        for (int q = 0; q < Q; q++) {
          int tx = (x + E[q][0] + nx) % nx, ty = (y + E[q][1] + ny) % ny, tz = (z + E[q][2] + nz) % nz;
          g[((tz * ny + ty) * nx + tx) * Q + q] = after[q];
        }
      }
}

void boltzmann(const double *start, const double *model, const int *wall, int nz, int ny, int nx, int steps,
               double *end) {
  size_t size = (size_t)nz * ny * nx * Q * sizeof(double);
  double *now = malloc(size), *next = malloc(size);
  memcpy(now, start, size);
  for (int t = 0; t < steps; t++) {
    step(now, model, wall, nz, ny, nx, next);
    double *swap = now;
    now = next;
    next = swap;
  }
  memcpy(end, now, size);
  free(now);
  free(next);
}
