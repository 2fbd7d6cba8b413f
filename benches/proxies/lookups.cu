// The lookups as a kernel, a thread for each; the material and the energy are given.
enum { CHANNELS = 5, RECORD = 1 + CHANNELS };

__device__ int search(const double *grid, int points, double energy) {
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

__global__ void lookups(const double *grid, const double *density, const double *energies, const int *nuclide,
                        const int *first, const int *material, int points, int n, double *total) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double sum[CHANNELS] = {0}, energy = energies[i];
  for (int k = first[material[i]]; k < first[material[i] + 1]; k++) {
    const double *mine = grid + (long)nuclide[k] * points * RECORD;
    const double *record = mine + (long)search(mine, points, energy) * RECORD;
    double part = (energy - record[0]) / (record[RECORD] - record[0]);
    for (int c = 1; c <= CHANNELS; c++)
      sum[c - 1] += density[k] * (record[c] + part * (record[RECORD + c] - record[c]));
  }
  for (int c = 0; c < CHANNELS; c++) total[i * CHANNELS + c] = sum[c];
}
