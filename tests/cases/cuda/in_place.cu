// Each thread advances its own oscillator in place, in a loop whose length is an argument.
__global__ void oscillate(double *state, double damping, int steps, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double x = state[2 * i], v = state[2 * i + 1];
  for (int s = 0; s < steps; s++) {
    v += 0.05 * (-sin(x) - damping * v * fabs(v));
    x += 0.05 * v;
  }
  state[2 * i] = x, state[2 * i + 1] = v;
}
