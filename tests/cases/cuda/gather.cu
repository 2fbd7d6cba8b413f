// No two threads write to the same place, but several read the same: the gradient races without atomics.
__global__ void gather(const double *x, const int *index, double *y, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < m) y[i] = x[index[i]] * x[index[i]] * x[0];
}
