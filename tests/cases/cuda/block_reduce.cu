// A tree in static shared memory with a barrier in a loop, then an atomic across blocks. Not linear, so that what the
// tree overwrites is needed by the reverse sweep.
#define BLOCK 64

__global__ void block_reduce(const double *x, double *total, int n) {
  __shared__ double s[BLOCK];
  int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
  s[t] = i < n ? x[i] : 0.0;
  __syncthreads();
  for (int half = BLOCK / 2; half > 0; half /= 2) {
    if (t < half) s[t] = s[t] + s[t + half] + 0.5 * s[t] * s[t + half];
    __syncthreads();
  }
  if (t == 0) atomicAdd(total, s[0]);
}
