// Hillis and Steele's scan, with products, in two buffers that change places: a pointer into shared memory is swapped.
__global__ void prefix_product(const double *x, double *y, int n) {
  __shared__ double first[64], second[64];
  int t = threadIdx.x;
  double *from = first, *to = second;
  from[t] = t < n ? x[t] : 1.0;
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    to[t] = t >= d ? from[t] * from[t - d] : from[t];
    __syncthreads();
    double *other = from;
    from = to, to = other;
  }
  if (t < n) y[t] = from[t];
}
