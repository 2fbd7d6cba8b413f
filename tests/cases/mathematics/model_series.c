/* Models of a planet each: a struct with the addresses of its tables, none of them const. The term's arguments and amplitudes are read through it. */
#include <math.h>

struct model {
  signed char orders[4];
  double *amplitudes;
  const signed char *arguments;
  double unit;
};

static double inner_amplitudes[] = {0.5, -1.25, 2.0, 0.75, 0.1, -0.3, 1.5, 0.25};
static double outer_amplitudes[] = {1.5, 0.25, -0.5, 0.4, 2.2, 0.3, -1.0, 0.6};
static signed char inner_arguments[] = {1, 2, 2, 1, 3, 1, -1};
static signed char outer_arguments[] = {2, 1, 1, 2, 4, 1, -1};
static struct model inner = {{2, 3, 1, 0}, inner_amplitudes, inner_arguments, 0.01};
static struct model outer = {{1, 4, 2, 0}, outer_amplitudes, outer_arguments, 0.02};
static struct model *models[] = {&inner, &outer};
static double sines[4];

static double position(double time, int which) {
  const struct model *model = models[which];
  const double *amplitude = model->amplitudes;
  for (int i = 0; i < 4; i++) sines[i] = sin((i + 1) * time + model->orders[i]);
  double sum = 0.0;
  for (const signed char *argument = model->arguments; *argument >= 0;) {
    int k = *argument++ - 1, powers = *argument++;
    double term = *amplitude++;
    for (int i = 0; i < powers; i++) term = term * time + *amplitude++;
    sum += term * sines[k];
  }
  return model->unit * sum;
}

void model_series(const double *time, double *place, int n) {
  for (int i = 0; i < n; i++) place[i] = position(time[i], i % 2);
}
