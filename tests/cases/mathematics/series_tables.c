/* Theories of the moon's motion and the like: large constant tables of terms, each with integer factors, an amplitude and a phase, in sums one after another. */
#include <math.h>

struct term {
  int factor[3];
  double amplitude, phase;
};

#define TERM(i) {{(i) % 3, (i) % 4 - 1, 2 - (i) % 5}, 1.0 / ((i) + 1), 0.3 * (i)}
#define TERMS4(i) TERM(i), TERM(i + 1), TERM(i + 2), TERM(i + 3)
#define TERMS16(i) TERMS4(i), TERMS4(i + 4), TERMS4(i + 8), TERMS4(i + 12)

static const struct term sines[] = {TERMS16(0), TERMS16(16), TERMS16(32), TERMS16(48)};
static const struct term cosines[] = {TERMS16(5), TERMS16(21), TERMS16(37), TERMS16(53)};
static const double weights[4][80] = {{0.5, -0.25}, {1, 2, 3, 4, 5}, {0, 0, 1}, {2}};

enum { TERMS = sizeof sines / sizeof *sines };

static double angle(const struct term *term, const double *x) {
  double sum = term->phase;
  for (int j = 0; j < 3; j++) sum += term->factor[j] * x[j];
  while (sum > 6.283185307179586) sum -= 6.283185307179586;
  return sum;
}

void series_tables(const double *x, double *y) {
  double longitude = 0, latitude = 0, distance = 0;
  for (int i = 0; i < TERMS; i++) longitude += sines[i].amplitude * sin(angle(&sines[i], x));
  for (int i = 0; i < TERMS; i++) latitude += cosines[i].amplitude * cos(angle(&cosines[i], x));
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 80; j++) distance += weights[i][j] * sin((i + 1) * x[0] + j * x[2]);
  y[0] = longitude, y[1] = latitude * longitude, y[2] = distance;
}
