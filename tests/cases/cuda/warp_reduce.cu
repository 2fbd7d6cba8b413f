// Values passed down a warp by shuffles, multiplied in between; one atomic a warp.
__global__ void warp_reduce(const double *x, double *total, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  double v = i < n ? rsqrt(1.0 + x[i] * x[i]) : 0.0;
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d) * (1.0 + 0.1 * v);
  if (threadIdx.x % 32 == 0) atomicAdd(total, v);
}
