// The temperature of a chip that computes: heat flows to the neighbours and the air, and leaks of power grow with it. The kind of Rodinia's hotspot: a
// stencil, two arrays that change places.
#include <stdlib.h>
#include <string.h>

// `chip` is the time step over the capacity, the conductivities along columns, rows and upwards, the air's temperature, and the leak.
static void step(const double *t, const double *power, const double *chip, int rows, int cols, double *next) {
#pragma omp parallel for
  for (int r = 0; r < rows; r++)
    for (int c = 0; c < cols; c++) {
      int here = r * cols + c;
      double mine = t[here];
      double north = r > 0 ? t[here - cols] : mine, south = r + 1 < rows ? t[here + cols] : mine;
      double west = c > 0 ? t[here - 1] : mine, east = c + 1 < cols ? t[here + 1] : mine;
      next[here] = mine + chip[0] * (power[here] * (1 + chip[5] * mine) + chip[1] * (north + south - 2 * mine) +
                                     chip[2] * (west + east - 2 * mine) + chip[3] * (chip[4] - mine));
    }
}

void hotspot(const double *start, const double *power, const double *chip, int rows, int cols, int steps, double *end) {
  size_t size = (size_t)rows * cols * sizeof(double);
  double *now = malloc(size), *next = malloc(size);
  memcpy(now, start, size);
  for (int i = 0; i < steps; i++) {
    step(now, power, chip, rows, cols, next);
    double *swap = now;
    now = next;
    next = swap;
  }
  memcpy(end, now, size);
  free(now);
  free(next);
}
