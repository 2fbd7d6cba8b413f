// Grows a block in a loop with realloc, at which Enzyme crashes without naming a place.
#include <stdlib.h>

static double* append(double* block, int count, double value) {
  block = (double*)realloc(block, (count + 1) * sizeof *block);
  block[count] = value;
  return block;
}

void running_sums(const double* x, int n, double* y) {
  double* block = NULL;
  for (int i = 0; i < n; i++) {
    block = append(block, i, x[i] * x[i]);
  }
  double sum = 0.0;
  for (int i = 0; i < n; i++) {
    sum += block[i];
    y[i] = sum;
  }
  free(block);
}
