// Rounds by way of a text: what is read back is a constant, so the derivative of y = rounded(x) x is rounded(x).
#include <stdio.h>
#include <stdlib.h>

static double rounded(double x) {
  char text[64];
  snprintf(text, sizeof text, "%.3f", x);
  return atof(text);
}

void tidy(const double* x, int n, double* y) {
  for (int i = 0; i < n; i++) y[i] = rounded(x[i]) * x[i];
}
