// A solver calls a function through a pointer; the parameter of that function lies in a static.
static double given;

static double residual(double u) { return u * u * u + u - given; }

__attribute__((noinline)) static double solve(double (*f)(double), double low, double high) {
  for (int i = 0; i < 6; i++) {
    double middle = (low + high) * 0.5;
    if (f(middle) < 0) low = middle;
    else high = middle;
  }
  double u = (low + high) * 0.5;
  for (int i = 0; i < 6; i++) u = u - f(u) / (3 * u * u + 1);
  return u;
}

void callback_parameter(const double *x, int n, double *y) {
  for (int i = 0; i < n; i++) {
    given = x[i] * 1.3;
    y[i] = solve(residual, -3, 3) * x[i];
  }
}
