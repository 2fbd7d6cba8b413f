// Two recurrences for a few modes in thread-local tables, combined by a list of indices. The first access of a thread allocates the tables; what the
// function has in a vector register then must survive.
#include <math.h>

enum { MODES = 6, MOST = 32 };

static _Thread_local double falling[MODES][MOST];
static _Thread_local double rising[MODES][MOST];
static const int degree[MODES] = {3, 0, 9, 31, 0, 12};
static const signed char picks[][2] = {{0, 2}, {3, 17}, {5, -11}, {2, 1}, {3, 30}, {5, -4}, {-1, 0}};
static const double weights[] = {1, .5, .25, .8, .7, .3};

static void recur(int mode, double start, int count) {
  double down = sin(start), up = cos(start), ratio = down * up;
  for (int k = 0; k < count; k++) {
    falling[mode][k] = down;
    rising[mode][k] = up;
    down = ratio * down - .1 * up;
    up = ratio * up + .1 * falling[mode][k];
  }
}

double first_use_of_thread_local(double x) {
  double scale = (x - 2) / 3.7, total = 0;
  for (int m = 0; m < MODES; m++) {
    if (degree[m] > 0) recur(m, scale * (m + 1) + .1, degree[m]);
  }
  for (int i = 0; picks[i][0] >= 0; i++) {
    int mode = picks[i][0], k = picks[i][1];
    double term = k < 0 ? -falling[mode][-k] : falling[mode][k] + rising[mode][k] * scale;
    total += weights[i] * scale * term;
  }
  return total * scale;
}
