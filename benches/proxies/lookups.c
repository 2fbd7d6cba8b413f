// Macroscopic cross sections of materials at random energies, interpolated in the grids of their nuclides; the place in a grid is found by a binary
// search, or by a table of bins. The kind of XSBench: memory and integers decide, there is little arithmetic.
#include <stdint.h>

enum { CHANNELS = 5, RECORD = 1 + CHANNELS };

// A number in [0, 1) for each place in a sequence.
static double drawn(uint64_t place) {
  uint64_t bits = (place + 1) * 0x9e3779b97f4a7c15u;
  bits = (bits ^ (bits >> 31)) * 0xd6e8feb86659fd93u;
  return (double)((bits ^ (bits >> 32)) >> 11) * 0x1p-53;
}

// The record at or below an energy.
static int search(const double *grid, int points, double energy) {
  int low = 0, high = points - 1;
  while (high - low > 1) {
    int middle = low + (high - low) / 2;
    if (grid[middle * RECORD] > energy)
      high = middle;
    else
      low = middle;
  }
  return low;
}

// The same: a bin names the record at its lower edge.
static int hash(const double *grid, int points, const int *bin, int bins, double energy) {
  int low = bin[(int)(energy * bins)];
  while (low + 2 < points && grid[(low + 1) * RECORD] <= energy) low++;
  return low;
}

static void add_nuclide(const double *record, double energy, double density, double *total) {
  double part = (energy - record[0]) / (record[RECORD] - record[0]);
  for (int c = 1; c <= CHANNELS; c++)
    total[c - 1] += density * (record[c] + part * (record[RECORD + c] - record[c]));
}

// Materials are lists of nuclides: `first` says where each begins.
void by_search(const double *grid, const double *density, const int *nuclide, const int *first, int points,
               int materials, int lookups, double *total) {
#pragma omp parallel for
  for (int i = 0; i < lookups; i++) {
    double energy = drawn(2 * (uint64_t)i), sum[CHANNELS] = {0};
    int material = (int)(drawn(2 * (uint64_t)i + 1) * materials);
    for (int k = first[material]; k < first[material + 1]; k++) {
      const double *mine = grid + (long)nuclide[k] * points * RECORD;
      add_nuclide(mine + (long)search(mine, points, energy) * RECORD, energy, density[k], sum);
    }
    for (int c = 0; c < CHANNELS; c++) total[i * CHANNELS + c] = sum[c];
  }
}

void by_hash(const double *grid, const double *density, const int *nuclide, const int *first, const int *bin,
             int points, int materials, int bins, int lookups, double *total) {
#pragma omp parallel for
  for (int i = 0; i < lookups; i++) {
    double energy = drawn(2 * (uint64_t)i), sum[CHANNELS] = {0};
    int material = (int)(drawn(2 * (uint64_t)i + 1) * materials);
    for (int k = first[material]; k < first[material + 1]; k++) {
      const double *mine = grid + (long)nuclide[k] * points * RECORD;
      int low = hash(mine, points, bin + (long)nuclide[k] * bins, bins, energy);
      add_nuclide(mine + (long)low * RECORD, energy, density[k], sum);
    }
    for (int c = 0; c < CHANNELS; c++) total[i * CHANNELS + c] = sum[c];
  }
}
