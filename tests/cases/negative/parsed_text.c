// Reads numbers back from a text: the call that has no derivative stands in a header of the C library.
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
