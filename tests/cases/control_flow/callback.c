// A local function passed as an argument: composite Simpson quadrature of two integrands.
#include <math.h>

static double simpson(double (*g)(double, double), double p, double a, double b, int n) {
  double h = (b - a) / n, s = g(a, p) + g(b, p);
  for (int i = 1; i < n; i++) s += (i % 2 ? 4.0 : 2.0) * g(a + i * h, p);
  return s * h / 3.0;
}

static double bell(double t, double p) { return exp(-p * t * t); }
static double swing(double t, double p) { return cos(p * t); }

// out[0], out[1]: both integrals from 0 to b, with parameter p.
void integrals(double p, double b, double* out) {
  out[0] = simpson(bell, p, 0.0, b, 16);
  out[1] = simpson(swing, p, 0.0, b, 16);
}
