// Heat in a plate of uneven conductivity, one step in time: a block a tile of 16 x 16 cells, with the tile and its
// border in shared memory. Written as one writes it for a GPU; nothing in it knows of gradients.
#define TILE 16

__global__ void diffuse(const double *u, const double *k, double *v, int rows, int cols) {
  __shared__ double tile[TILE + 2][TILE + 2], conduct[TILE + 2][TILE + 2];
  int c = blockIdx.x * TILE + threadIdx.x, r = blockIdx.y * TILE + threadIdx.y;
  for (int y = threadIdx.y; y < TILE + 2; y += TILE)
    for (int x = threadIdx.x; x < TILE + 2; x += TILE) {
      // The plate is insulated: beyond its edge the temperature is that of the edge.
      int row = min(max((int)blockIdx.y * TILE + y - 1, 0), rows - 1);
      int col = min(max((int)blockIdx.x * TILE + x - 1, 0), cols - 1);
      tile[y][x] = u[row * cols + col];
      conduct[y][x] = k[row * cols + col];
    }
  __syncthreads();
  if (r >= rows || c >= cols) return;
  int x = threadIdx.x + 1, y = threadIdx.y + 1;
  double here = tile[y][x], own = conduct[y][x];
  double flow = (own + conduct[y][x - 1]) * (tile[y][x - 1] - here) + (own + conduct[y][x + 1]) * (tile[y][x + 1] - here) +
                (own + conduct[y - 1][x]) * (tile[y - 1][x] - here) + (own + conduct[y + 1][x]) * (tile[y + 1][x] - here);
  v[r * cols + c] = here + 0.5 * flow;
}
