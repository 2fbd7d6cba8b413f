// The threads of a block talk through global memory: a wave passes along a ring, each step between two barriers.
__global__ void ring(double *u, double *v, double speed, int n) {
  int t = threadIdx.x, left = (t + n - 1) % n, right = (t + 1) % n;
  for (int step = 0; step < 5; step++) {
    double next = 0.0;
    if (t < n) next = v[t] + speed * (u[left] - 2.0 * u[t] + u[right]) - 0.05 * u[t] * u[t] * u[t];
    __syncthreads();
    if (t < n) v[t] = next, u[t] += 0.5 * next;
    __syncthreads();
  }
}
