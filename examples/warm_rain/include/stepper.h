/* A solver of ordinary differential equations that chooses steps and method by itself, with a callback. */
#ifndef STEPPER_H
#define STEPPER_H

enum { MOST_STATES = 8 };

/* Sets rate[0..n-1] at time t and state y; p is whatever the caller gave to integrate. */
typedef void rates(double t, const double *y, double *rate, const double *p);

/* Integrates from t to end, to a relative accuracy; `scale` is the size below which a component does not matter. Returns the
 * number of steps, or -1 where there were too many. */
int integrate(rates *f, const double *p, int n, double t, double end, double *y, double accuracy, const double *scale);

#endif
