/* A step of 256 statements, each of which overwrites what it reads: its tape has more than 200 numbers, and the tapes of its callers have that in them. */
#define ONE(k) s += x[k] * x[k]; x[k] = 0.5 * s;
#define FOUR(k) ONE(k) ONE(k + 1) ONE(k + 2) ONE(k + 3)
#define SIXTEEN(k) FOUR(k) FOUR(k + 4) FOUR(k + 8) FOUR(k + 12)
#define SIXTY_FOUR(k) SIXTEEN(k) SIXTEEN(k + 16) SIXTEEN(k + 32) SIXTEEN(k + 48)

static __attribute__((noinline)) double step(double* x, double s) {
  SIXTY_FOUR(0) SIXTY_FOUR(64) SIXTY_FOUR(128) SIXTY_FOUR(192)
  return s;
}

static __attribute__((noinline)) double steps(double* x, double s, int n) {
  double all = s;
  for (int i = 0; i < n; i++) {
    if (i != 1) all += step(x, 0.25 * s * i);
  }
  if (n > 2) all *= step(x, s);
  return all;
}

void tape(const double* given, int n, double rate, double* y) {
  double x[256];
  for (int i = 0; i < 256; i++) x[i] = 0.02 * given[i % n];
  y[0] = steps(x, rate, n);
  for (int i = 1; i < n; i++) y[i] = x[16 * i] + rate;
}
