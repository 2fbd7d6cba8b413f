// Row-wise softmax, the output used as working memory.
#include <math.h>

void softmax(const double* x, int m, int n, double* y) {
  for (int i = 0; i < m; i++) {
    const double* row = x + i * n;
    double top = row[0], sum = 0.0;
    for (int j = 1; j < n; j++) top = fmax(top, row[j]);
    for (int j = 0; j < n; j++) sum += y[i * n + j] = exp(row[j] - top);
    for (int j = 0; j < n; j++) y[i * n + j] /= sum;
  }
}
