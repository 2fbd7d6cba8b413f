// A progress log, which is declared inactive: by macro here, by option for the counter.
#include <ffgrad/derivatives.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

static int calls;
static char line[64];
void count(double residual) { calls += residual > 1e-3; }
void progress(const char* what, double residual) { snprintf(line, sizeof line, "%s %g after %d", what, residual, calls); }
FFGRAD_INACTIVE(progress);

double relax(const double* x, int n) {
  double y = 1;
  for (int step = 0; step < 30; step++) {
    double r = 0;
    for (int i = 0; i < n; i++) r += cos(x[i] * y) / n;
    count(r - y);
    progress("residual", r - y);
    y = 0.5 * (y + r);
  }
  return y;
}
