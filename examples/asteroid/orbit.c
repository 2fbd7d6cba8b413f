/* Where a telescope on Earth sees an asteroid: the equation of motion in the field of the Sun, by Runge and Kutta's method.
 * Lengths are in astronomical units, times in days.
 */
#include <math.h>

static const double SUN = 0.01720209895 * 0.01720209895; /* Gauss' constant, squared */

static void fall(const double *s, double *rate) {
  double r2 = s[0] * s[0] + s[1] * s[1] + s[2] * s[2], pull = -SUN / (r2 * sqrt(r2));
  for (int i = 0; i < 3; i++) {
    rate[i] = s[i + 3];
    rate[i + 3] = pull * s[i];
  }
}

static void step(double *s, double h) {
  double a[6], b[6], c[6], d[6], t[6];
  fall(s, a);
  for (int i = 0; i < 6; i++) t[i] = s[i] + h / 2 * a[i];
  fall(t, b);
  for (int i = 0; i < 6; i++) t[i] = s[i] + h / 2 * b[i];
  fall(t, c);
  for (int i = 0; i < 6; i++) t[i] = s[i] + h * c[i];
  fall(t, d);
  for (int i = 0; i < 6; i++) s[i] += h / 6 * (a[i] + 2 * b[i] + 2 * c[i] + d[i]);
}

/* The asteroid's places at growing times; start = {place, velocity} at time 0. */
void places(const double *start, const double *times, int n, double *place) {
  double s[6], now = 0;
  for (int i = 0; i < 6; i++) s[i] = start[i];
  for (int k = 0; k < n; k++) {
    int steps = 1 + (int)((times[k] - now) / 2.0);
    for (int j = 0; j < steps; j++) step(s, (times[k] - now) / steps);
    now = times[k];
    for (int i = 0; i < 3; i++) place[3 * k + i] = s[i];
  }
}

/* The directions in which it is seen from Earth's places: longitude and latitude, in radians. */
void directions(const double *start, const double *times, const double *earth, int n, double *angles, double *place) {
  places(start, times, n, place);
  for (int k = 0; k < n; k++) {
    double x = place[3 * k] - earth[3 * k], y = place[3 * k + 1] - earth[3 * k + 1], z = place[3 * k + 2] - earth[3 * k + 2];
    angles[2 * k] = atan2(y, x);
    angles[2 * k + 1] = atan2(z, sqrt(x * x + y * y));
  }
}
