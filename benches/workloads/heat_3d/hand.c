// By hand: the adjoint of a step, gathered. The step is linear in u, so no state is kept; k has no gradient.
#include "heat_3d.c"

void primal(const double* u0, double k, int l, int m, int n, int pairs, double* u) {
  memcpy(u, u0, (size_t)l * m * n * sizeof(double));
  heat(u, k, l, m, n, pairs);
}

// What the faces receive from the cells beside them: they are held, and so pass nothing on.
static void faces(const double* a, double* du, double k, int l, int m, int n) {
  const size_t row = n, plane = (size_t)m * n, top = (l - 1) * plane, far = (m - 1) * row, right = n - 1;
  for (int i = 1; i < m - 1; i++)
    for (int j = 1; j < n - 1; j++) {
      const size_t c = i * row + j;
      du[c] += k * a[c + plane];
      du[c + top] += k * a[c + top - plane];
    }
  for (int h = 1; h < l - 1; h++) {
    for (int j = 1; j < n - 1; j++) {
      const size_t c = h * plane + j;
      du[c] += k * a[c + row];
      du[c + far] += k * a[c + far - row];
    }
    for (int i = 1; i < m - 1; i++) {
      const size_t c = h * plane + i * row;
      du[c] += k * a[c + 1];
      du[c + right] += k * a[c + right - 1];
    }
  }
}

static void interior(const double* from, double* to, int l, int m, int n) {
  const size_t row = n, plane = (size_t)m * n;
  for (int h = 1; h < l - 1; h++)
    for (int i = 1; i < m - 1; i++)
      memcpy(to + h * plane + i * row + 1, from + h * plane + i * row + 1, (n - 2) * sizeof(double));
}

// `du_out` is the cotangent of the result, `du` the gradient of the initial state.
void gradient(const double* u0, double k, int l, int m, int n, int pairs, const double* du_out, double* du) {
  (void)u0;
  const size_t size = (size_t)l * m * n, row = n, plane = (size_t)m * n;
  double* now = calloc(size, sizeof(double));
  double* then = calloc(size, sizeof(double));
  interior(du_out, now, l, m, n);
  memcpy(du, du_out, size * sizeof(double));
  for (int t = 0; t < 2 * pairs; t++) {
    faces(now, du, k, l, m, n);
    for (int h = 1; h < l - 1; h++)
      for (int i = 1; i < m - 1; i++) {
        const double* restrict a = now + h * plane + i * row;
        const double *up = a - plane, *down = a + plane, *left = a - row, *right = a + row;
        double* restrict b = then + h * plane + i * row;
        for (int j = 1; j < n - 1; j++)
          b[j] = a[j] + k * (up[j] + down[j] + left[j] + right[j] + a[j - 1] + a[j + 1] - 6.0 * a[j]);
      }
    double* swap = now;
    now = then;
    then = swap;
  }
  interior(now, du, l, m, n);
  free(then);
  free(now);
}
