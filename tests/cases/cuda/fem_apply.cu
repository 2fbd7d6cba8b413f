// A matrix-free finite-element operator: a thread an element, nodes shared between elements and added to by atomics.
__global__ void apply(const double *u, const double *k, const int *nodes, double *r, int elements) {
  int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= elements) return;
  double local[3], mean = 0.0;
  for (int a = 0; a < 3; a++) {
    local[a] = u[nodes[3 * e + a]];
    mean += local[a] / 3.0;
  }
  double stiffness = k[e] * (1.0 + mean * mean);
  for (int a = 0; a < 3; a++) atomicAdd(&r[nodes[3 * e + a]], stiffness * (3.0 * local[a] - 3.0 * mean));
}
