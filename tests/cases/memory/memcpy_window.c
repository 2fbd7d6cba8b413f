// memcpy in and out of a local window: a weighted moving sum over five values.
#include <string.h>

enum { WINDOW = 5 };

void moving_sum(const double* x, int n, double* y) {
  for (int i = 0; i + WINDOW <= n; i++) {
    double w[WINDOW];
    memcpy(w, x + i, sizeof w);
    for (int j = 1; j < WINDOW; j++) w[j] += 0.5 * w[j - 1] * w[j - 1];
    memcpy(y + i, &w[WINDOW - 1], sizeof(double));
  }
}
