// A step of the D3Q19 lattice as a kernel, a thread for each cell; a velocity's numbers lie beside one another, so that threads read in order.
__constant__ int E[19][3] = {{0, 0, 0},  {1, 0, 0},   {-1, 0, 0}, {0, 1, 0},  {0, -1, 0},   {0, 0, 1},  {0, 0, -1},
                             {1, 1, 0},  {-1, -1, 0}, {1, -1, 0}, {-1, 1, 0}, {1, 0, 1},    {-1, 0, -1}, {1, 0, -1},
                             {-1, 0, 1}, {0, 1, 1},   {0, -1, -1}, {0, 1, -1}, {0, -1, 1}};
__constant__ int BACK[19] = {0, 2, 1, 4, 3, 6, 5, 8, 7, 10, 9, 12, 11, 14, 13, 16, 15, 18, 17};
__constant__ double W[19] = {1. / 3,  1. / 18, 1. / 18, 1. / 18, 1. / 18, 1. / 18, 1. / 18, 1. / 36, 1. / 36, 1. / 36,
                             1. / 36, 1. / 36, 1. / 36, 1. / 36, 1. / 36, 1. / 36, 1. / 36, 1. / 36, 1. / 36};

__global__ void boltzmann(const double *f, const double *model, const int *wall, int nz, int ny, int nx, double *g) {
  int here = blockIdx.x * blockDim.x + threadIdx.x, cells = nz * ny * nx;
  if (here >= cells) return;
  int x = here % nx, y = here / nx % ny, z = here / (nx * ny);
  double rho = 0, u[3] = {0};
  for (int q = 0; q < 19; q++) {
    rho += f[q * cells + here];
    for (int d = 0; d < 3; d++) u[d] += E[q][d] * f[q * cells + here];
  }
  for (int d = 0; d < 3; d++) u[d] = u[d] / rho + model[1 + d];
  double square = 1.5 * (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
  for (int q = 0; q < 19; q++) {
    double along = 3 * (E[q][0] * u[0] + E[q][1] * u[1] + E[q][2] * u[2]), mine = f[q * cells + here];
    double after = mine + model[0] * (W[q] * rho * (1 + along + 0.5 * along * along - square) - mine);
    if (wall[here]) after = f[BACK[q] * cells + here];
    int tx = (x + E[q][0] + nx) % nx, ty = (y + E[q][1] + ny) % ny, tz = (z + E[q][2] + nz) % nz;
    g[q * cells + (tz * ny + ty) * nx + tx] = after;
  }
}
