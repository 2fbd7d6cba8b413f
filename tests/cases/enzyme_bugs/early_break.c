// A loop that is left in its middle, with many paths from there to its end, and a loop inside; two exits lead to different places.
#include <math.h>

#define STEP(i) if (x[i % 5] * s > 0.1 * i + 0.3) s = sin(s) + x[(i + 1) % 5]; else s = 0.5 * cos(s) + x[(i + 2) % 5];

void early_break(const double *x, double *y, double *last) {
  double s = 1.0;
  *last = 0.0;
  for (int k = 0; k < 9; k++) {
    for (int j = 0; j < 3; j++) y[j] += 0.1 * s * k;
    if (y[0] > 3.0) break;
    if (y[1] > 2.5) { *last = y[1] * s; return; }
    STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7) STEP(8) STEP(9) STEP(10) STEP(11)
    STEP(12) STEP(13) STEP(14) STEP(15) STEP(16) STEP(17) STEP(18) STEP(19) STEP(20) STEP(21) STEP(22) STEP(23)
    STEP(24) STEP(25) STEP(26) STEP(27) STEP(28) STEP(29) STEP(30) STEP(31)
  }
  *last = s;
}
