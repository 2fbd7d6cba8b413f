// Elementwise, with a scalar by value and the default launch: one thread for each element of the output.
#include <cmath>

__global__ void pointwise(const double *x, const double *y, double a, double *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a * x[i] + std::sin(y[i]) * exp(-x[i] * x[i]) + pow(1.0 + y[i] * y[i], a);
}
