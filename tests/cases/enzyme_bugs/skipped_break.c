// Iterations with `continue` skip the `break`: the loop ends in such an iteration, or by `break`, or has no iteration.
#include <math.h>

void shrink(double *y, int n) {
  double scale = 1.5;
  for (int i = 0; i < n; i++) {
    if (i % 3) continue;
    double sum = 0.0;
    for (int j = 0; j < n; j++) sum += y[j] * scale;
    y[i] = sin(sum);
    if (i > 3) break;
    scale = tanh(scale + y[i]);
  }
  y[1] *= scale;
}
