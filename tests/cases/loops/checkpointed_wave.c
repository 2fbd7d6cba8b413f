/* A loop whose gradient keeps four states: two buffers that change places, a sum, and a call. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <ffgrad/derivatives.h>

static double force(double left, double here, double right) { return left - 2 * here + right + 0.1 * sin(here); }

void wave(const double *start, const double *speed, int n, int steps, double *end, double *energy) {
  double *now = malloc(n * sizeof(double)), *next = calloc(n, sizeof(double));
  double sum = 0;
  memcpy(now, start, n * sizeof(double));
  FFGRAD_CHECKPOINT(4);
  for (int s = 0; s < steps; s++) {
    for (int i = 1; i + 1 < n; i++) next[i] = now[i] + 0.1 * speed[i] * force(now[i - 1], now[i], now[i + 1]);
    next[0] = now[0];
    next[n - 1] = now[n - 1];
    sum += next[n / 2] * next[n / 2];
    double *other = now;
    now = next;
    next = other;
  }
  memcpy(end, now, n * sizeof(double));
  *energy = sum;
  free(now);
  free(next);
}
