/* Warm rain in a parcel of air that rises and sinks: vapour condenses to cloud within seconds, cloud becomes rain within minutes, by
 * autoconversion and accretion, rain falls out, and evaporates where the air is dry again. A bulk parameterisation of the kind that weather
 * models use, of which four constants are to be calibrated.
 *
 * Source: Kessler, "On the distribution and continuity of water substance in atmospheric circulations" (1969), for the processes;
 * Bolton, "The computation of equivalent potential temperature" (1980), for the saturation pressure.
 */
#include "stepper.h"
#include <math.h>

enum { TEMPERATURE, VAPOUR, CLOUD, RAIN, STATES };
enum { AUTOCONVERSION, THRESHOLD, ACCRETION, EVAPORATION, CONSTANTS };

/* What the callback needs beside the constants: the updraft and the surface pressure stand behind them. */
enum { UPDRAFT = CONSTANTS, SURFACE_PRESSURE, PARAMETERS };

/* Seconds from the ground to the top and back. */
#define PERIOD 1800.0
#define PI 3.14159265358979323846

static double saturation(double temperature, double pressure) {
  double celsius = temperature - 273.15;
  double e = 611.2 * exp(17.67 * celsius / (celsius + 243.5));
  return 0.622 * e / (pressure - e);
}

/* Rates of change a second; water in kilograms a kilogram of air. */
static void parcel(double t, const double *y, double *rate, const double *p) {
  const double gravity = 9.81, heat = 1004.0, latent = 2.5e6, gas = 287.0;
  double speed = p[UPDRAFT] * sin(2 * PI * t / PERIOD);
  double height = p[UPDRAFT] * PERIOD / (2 * PI) * (1 - cos(2 * PI * t / PERIOD));
  double pressure = p[SURFACE_PRESSURE] * exp(-gravity * height / (gas * 280.0));
  double limit = saturation(y[TEMPERATURE], pressure), excess = y[VAPOUR] - limit;
  double cloud = fmax(y[CLOUD], 0), rain = fmax(y[RAIN], 1e-12);
  /* Towards saturation within seconds; of a dry parcel only as much as there is cloud. */
  double condensation = excess / 2.0;
  if (excess < 0) condensation *= cloud / (cloud + 1e-5);
  /* The threshold of autoconversion, without its kink. */
  double over = (cloud - p[THRESHOLD]) / 1e-4;
  double conversion = p[AUTOCONVERSION] * 1e-4 * (over > 30 ? over : log1p(exp(over)));
  double accretion = p[ACCRETION] * cloud * pow(rain, 0.875);
  double evaporation = excess < 0 ? -p[EVAPORATION] * excess * pow(rain, 0.65) : 0;
  double fall = 36.34 * pow(1e-3 * rain * pressure / (gas * y[TEMPERATURE]), 0.1364) * rain / 2000.0;
  rate[TEMPERATURE] = -gravity * speed / heat + latent / heat * (condensation - evaporation);
  rate[VAPOUR] = evaporation - condensation;
  rate[CLOUD] = condensation - conversion - accretion;
  rate[RAIN] = conversion + accretion - evaporation - fall;
}

/* Cloud and rain, in grams a kilogram, at `times` moments `interval` seconds apart, of a parcel that starts at the ground;
 * `updraft` is its largest speed. */
void warm_rain(const double *constants, const double *start, double updraft, double interval, int times, double *water) {
  const double scale[STATES] = {1.0, 1e-4, 1e-5, 1e-5};
  double p[PARAMETERS], y[STATES];
  for (int i = 0; i < CONSTANTS; i++) p[i] = constants[i];
  p[UPDRAFT] = updraft, p[SURFACE_PRESSURE] = 1e5;
  y[TEMPERATURE] = start[0], y[VAPOUR] = start[1], y[CLOUD] = 0, y[RAIN] = 0;
  for (int k = 0; k < times; k++) {
    int steps = integrate(parcel, p, STATES, k * interval, (k + 1) * interval, y, 1e-7, scale);
    water[2 * k] = steps < 0 ? NAN : 1e3 * y[CLOUD];
    water[2 * k + 1] = steps < 0 ? NAN : 1e3 * y[RAIN];
  }
}
