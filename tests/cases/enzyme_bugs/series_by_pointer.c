/* Tables of different lengths, chosen through an array of pointers. LLVM made it a table of offsets from its own address, on which
   Enzyme's type analysis did not end. */
static const double first[] = {1.5, 0.3, 0.7, 0.2, 1.1, 2.3};
static const double second[] = {0.4, 0.9, 1.9};
static const double third[] = {0.8, 0.1, 0.5, 0.6, 1.3, 2.9, 0.25, 0.45, 0.65};

static const double *const tables[] = {first, second, third};
static const int lengths[] = {2, 1, 3};

/* y = the series and its slope, for one of the three */
static void series(int which, double t, double *value, double *slope) {
  const double *term = tables[which];
  double sum = 0, rate = 0;
  for (int j = 0; j < lengths[which]; j++) {
    double a = *term++, b = *term++, c = *term++;
    double angle = b + c * t;
    sum += a * __builtin_cos(angle);
    rate -= a * c * __builtin_sin(angle);
  }
  *value = sum;
  *slope = rate;
}

void place(const double *x, int n, double *y) {
  for (int i = 0; i < n; i++) {
    double value, slope;
    series(i % 3, x[i], &value, &slope);
    y[i] = value * slope;
  }
}
