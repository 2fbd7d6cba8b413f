// A block a row: maximum and sum by trees in shared memory, several barriers one after another.
__global__ void softmax_rows(const double *x, double *y, int cols) {
  __shared__ double s[32];
  int t = threadIdx.x;
  const double *row = x + blockIdx.x * cols;
  double most = -1e300;
  for (int c = t; c < cols; c += blockDim.x) most = fmax(most, row[c]);
  s[t] = most;
  __syncthreads();
  for (int h = blockDim.x / 2; h > 0; h >>= 1) {
    if (t < h) s[t] = fmax(s[t], s[t + h]);
    __syncthreads();
  }
  most = s[0];
  __syncthreads();
  double sum = 0.0;
  for (int c = t; c < cols; c += blockDim.x) sum += exp(row[c] - most);
  s[t] = sum;
  __syncthreads();
  for (int h = blockDim.x / 2; h > 0; h >>= 1) {
    if (t < h) s[t] += s[t + h];
    __syncthreads();
  }
  for (int c = t; c < cols; c += blockDim.x) y[blockIdx.x * cols + c] = exp(row[c] - most) / s[0];
}
