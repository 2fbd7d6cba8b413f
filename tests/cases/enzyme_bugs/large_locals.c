/* Local arrays of thousands of numbers: in two dimensions, in a loop, in a function that calls itself, in a structure, of integers. */
#include <math.h>

struct columns {
  float weights[3000];
  double values[2000];
};

static double tail(const double *x, int n, int depth) {
  double own[2048];
  for (int i = 0; i < 2048; i++) own[i] = x[i % n] * (i + depth) / 2048;
  double below = depth > 0 ? tail(x, n, depth - 1) : 1;
  return below * cos(own[100]) + own[2000 + depth] * own[n];
}

void large_locals(const double *x, int n, double *y) {
  double grid[80][100];
  int order[5000];
  for (int i = 0; i < 5000; i++) order[i] = (7 * i + 3) % n;
  for (int i = 0; i < 80; i++)
    for (int j = 0; j < 100; j++) grid[i][j] = x[order[100 * i % 5000 + j % 50]] * (1 + j * 1e-2);
  for (int k = 0; k < n; k++) {
    struct columns c;
    for (int i = 0; i < 2000; i++) {
      c.weights[i] = (float)(i % (k + 2));
      c.values[i] = grid[i % 80][(i + k) % 100] * x[k];
    }
    double sum = 0;
    for (int i = 1; i < 1999; i++) sum += c.weights[i] * c.values[i - 1] * c.values[i + 1];
    y[k] = 1e-3 * sum + tail(x, n, k % 3);
  }
}
