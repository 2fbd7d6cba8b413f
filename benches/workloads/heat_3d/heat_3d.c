// The heat equation in a block, explicit Euler steps, faces held; the state alternates between u and a second array.
#include <stdlib.h>
#include <string.h>

static void step(const double* u, double* next, double k, int l, int m, int n) {
  const size_t row = n, plane = (size_t)m * n;
  for (int h = 1; h < l - 1; h++)
    for (int i = 1; i < m - 1; i++)
      for (int j = 1; j < n - 1; j++) {
        const size_t c = h * plane + i * row + j;
        next[c] = u[c] + k * (u[c - plane] + u[c + plane] + u[c - row] + u[c + row] + u[c - 1] + u[c + 1] - 6.0 * u[c]);
      }
}

void heat(double* u, double k, int l, int m, int n, int pairs) {
  const size_t bytes = (size_t)l * m * n * sizeof(double);
  double* other = malloc(bytes);
  memcpy(other, u, bytes);
  for (int t = 0; t < pairs; t++) {
    step(u, other, k, l, m, n);
    step(other, u, k, l, m, n);
  }
  free(other);
}
