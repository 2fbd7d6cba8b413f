// Function pointers: a constant table of local functions, chosen by position.
// Enzyme gets the reverse mode right and the forward mode of an indirect call wrong.
#include <math.h>

static double square(double v) { return v * v; }
static double wave(double v) { return sin(2.0 * v); }
static double squash(double v) { return v / (1.0 + v * v); }

typedef double (*unary)(double);
static const unary table[3] = {square, wave, squash};

void apply_table(const double* x, int n, double* y) {
  for (int i = 0; i < n; i++) y[i] = table[i % 3](x[i]);
}
