// Softened gravity between particles, positions passed through shared memory tile by tile; a struct and a device function.
struct Body {
  double x, y, mass;
};

__device__ void pull(const Body &a, const Body &b, double soft, double &fx, double &fy) {
  double dx = b.x - a.x, dy = b.y - a.y;
  double inverse = rsqrt(dx * dx + dy * dy + soft * soft);
  double strength = b.mass * inverse * inverse * inverse;
  fx += strength * dx;
  fy += strength * dy;
}

__global__ void forces(const double *position, const double *mass, double soft, double *force, int n) {
  __shared__ Body tile[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  Body own{0.0, 0.0, 0.0};
  if (i < n) own = {position[2 * i], position[2 * i + 1], mass[i]};
  double fx = 0.0, fy = 0.0;
  for (int start = 0; start < n; start += 32) {
    int j = start + threadIdx.x;
    if (j < n) tile[threadIdx.x] = {position[2 * j], position[2 * j + 1], mass[j]};
    __syncthreads();
    for (int k = 0; k < 32 && start + k < n; k++) pull(own, tile[k], soft, fx, fy);
    __syncthreads();
  }
  if (i < n) force[2 * i] = own.mass * fx, force[2 * i + 1] = own.mass * fy;
}
