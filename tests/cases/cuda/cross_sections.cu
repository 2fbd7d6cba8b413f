// Look-up of nuclear cross sections as in XSBench: a binary search in an energy grid, interpolation, a sum over nuclides.
__global__ void lookup(const double *energy, const double *table, const double *density, const double *at, double *total,
                       int points, int nuclides, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int low = 0, high = points - 1;
  while (high - low > 1) {
    int middle = (low + high) / 2;
    if (energy[middle] > at[i])
      high = middle;
    else
      low = middle;
  }
  double t = (at[i] - energy[low]) / (energy[high] - energy[low]), sum = 0.0;
  for (int k = 0; k < nuclides; k++) {
    const double *row = table + k * points;
    sum += density[k] * ((1.0 - t) * __ldg(row + low) + t * __ldg(row + high));
  }
  total[i] = sum;
}
