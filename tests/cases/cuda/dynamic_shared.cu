// Shared memory whose size the launch gives: a window of each block's inputs, differentiated through its neighbours.
__global__ void smooth(const double *x, double *y, int n) {
  extern __shared__ double window[];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  window[t + 1] = i < n ? x[i] : 0.0;
  if (t == 0) window[0] = i > 0 ? x[i - 1] : 0.0;
  if (t == blockDim.x - 1) window[t + 2] = i + 1 < n ? x[i + 1] : 0.0;
  __syncthreads();
  if (i < n) y[i] = window[t] * window[t + 1] - 0.25 * window[t + 2] * window[t + 2];
}
