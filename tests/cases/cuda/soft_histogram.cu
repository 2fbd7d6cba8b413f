// Each sample is spread over two bins by atomics: many threads add to one place.
__global__ void soft_histogram(const double *x, const double *weight, double *bins, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double at = x[i] * (k - 1);
  int low = min(max((int)floor(at), 0), k - 2);
  double right = at - low;
  atomicAdd(&bins[low], weight[i] * (1.0 - right) * (1.0 - right));
  atomicAdd(&bins[low + 1], weight[i] * right * right);
}
