// Tiles of both matrices in shared memory, barriers in the loop over tiles; sizes are no multiples of the tile.
#define TILE 4

__global__ void matmul(const double *A, const double *B, double *C, int m, int k, int n) {
  __shared__ double a[TILE][TILE], b[TILE][TILE];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
  double sum = 0.0;
  for (int tile = 0; tile < (k + TILE - 1) / TILE; tile++) {
    int ac = tile * TILE + tx, br = tile * TILE + ty;
    a[ty][tx] = row < m && ac < k ? A[row * k + ac] : 0.0;
    b[ty][tx] = br < k && col < n ? B[br * n + col] : 0.0;
    __syncthreads();
    for (int i = 0; i < TILE; i++) sum += a[ty][i] * b[i][tx];
    __syncthreads();
  }
  if (row < m && col < n) C[row * n + col] = sum;
}
