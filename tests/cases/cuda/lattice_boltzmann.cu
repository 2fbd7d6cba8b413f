// D2Q9 lattice Boltzmann, collision and streaming of one step on a periodic lattice; the velocities are constant memory.
__constant__ int ex[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
__constant__ int ey[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
__constant__ double w[9] = {4. / 9,  1. / 9,  1. / 9,  1. / 9,  1. / 9,
                            1. / 36, 1. / 36, 1. / 36, 1. / 36};

__global__ void lbm(const double *f, double omega, double *g, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y, cells = rows * cols;
  if (r >= rows || c >= cols) return;
  int here = r * cols + c;
  double rho = 0.0, ux = 0.0, uy = 0.0;
  for (int q = 0; q < 9; q++) {
    double v = f[q * cells + here];
    rho += v, ux += ex[q] * v, uy += ey[q] * v;
  }
  ux /= rho, uy /= rho;
  for (int q = 0; q < 9; q++) {
    double along = ex[q] * ux + ey[q] * uy;
    double equilibrium = w[q] * rho * (1.0 + 3.0 * along + 4.5 * along * along - 1.5 * (ux * ux + uy * uy));
    double v = f[q * cells + here];
    int to = (r + ey[q] + rows) % rows * cols + (c + ex[q] + cols) % cols;
    g[q * cells + to] = v - omega * (v - equilibrium);
  }
}
