/* lgamma and tgamma, by the digamma function and its derivatives, the polygamma functions.
 *
 * Source: NIST Digital Library of Mathematical Functions, dlmf.nist.gov: 5.2.2 (psi is the derivative of ln Gamma),
 * 5.15.1 (polygamma as derivatives), 5.5.2 and 5.15.5 (recurrences), 5.5.4 and 5.15.6 (reflection), 5.11.2 and 5.15.8
 * (asymptotic expansions, with the Bernoulli numbers of 24.2).
 */
#include <ffgrad/derivatives.h>
#include <math.h>

FFGRAD_REPLACES(lgamma, ffgrad_lgamma)
FFGRAD_REPLACES(tgamma, ffgrad_tgamma)
FFGRAD_REPLACES(lgammaf, ffgrad_lgammaf)
FFGRAD_REPLACES(tgammaf, ffgrad_tgammaf)
FFGRAD_REPLACES(lgammal, ffgrad_lgammal)
FFGRAD_REPLACES(tgammal, ffgrad_tgammal)

static const double pi = 3.14159265358979323846;

/* Sum over k of b[k] / x^(2k+2), the tail of the asymptotic expansions. */
static double tail(const double *b, double x) {
  double z = 1 / (x * x), sum = 0;
  for (int k = 7; k >= 0; k--) sum = z * (b[k] + sum);
  return sum;
}

/* psi''(x). Only differentiated as it stands, if at all. */
static double tetragamma(double x) {
  static const double b[8] = {0.5, -1.0 / 6, 1.0 / 6, -3.0 / 10, 5.0 / 6, -691.0 / 210, 35.0 / 2, -3617.0 / 30};
  if (x <= 0) {
    double s = sin(pi * x), c = cos(pi * x);
    return tetragamma(1 - x) - 2 * pi * pi * pi * c / (s * s * s);
  }
  double sum = 0;
  for (; x < 16; x += 1) sum -= 2 / (x * x * x);
  double z = 1 / (x * x);
  return sum - z - z / x - z * tail(b, x);
}

/* psi'(x) */
double ffgrad_trigamma(double x);
double ffgrad_trigamma(double x) {
  static const double b[8] = {1.0 / 6, -1.0 / 30, 1.0 / 42, -1.0 / 30, 5.0 / 66, -691.0 / 2730, 7.0 / 6, -3617.0 / 510};
  if (x <= 0) {
    double s = sin(pi * x);
    return pi * pi / (s * s) - ffgrad_trigamma(1 - x);
  }
  double sum = 0;
  for (; x < 16; x += 1) sum += 1 / (x * x);
  return sum + 1 / x + 0.5 / (x * x) + tail(b, x) / x;
}
double ffgrad_trigamma_fwd(double x, double dx, double *dy) {
  *dy = tetragamma(x) * dx;
  return ffgrad_trigamma(x);
}
void ffgrad_trigamma_rev(double x, double *dx, double dy) { *dx += tetragamma(x) * dy; }
FFGRAD_DERIVATIVES(ffgrad_trigamma, ffgrad_trigamma_fwd, ffgrad_trigamma_rev);

/* psi(x) */
double ffgrad_digamma(double x);
double ffgrad_digamma(double x) {
  static const double b[8] = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                              1.0 / 132, -691.0 / 32760, 1.0 / 12,  -3617.0 / 8160};
  if (x <= 0) return ffgrad_digamma(1 - x) - pi / tan(pi * x);
  double sum = 0;
  for (; x < 16; x += 1) sum -= 1 / x;
  return sum + log(x) - 0.5 / x - tail(b, x);
}
double ffgrad_digamma_fwd(double x, double dx, double *dy) {
  *dy = ffgrad_trigamma(x) * dx;
  return ffgrad_digamma(x);
}
void ffgrad_digamma_rev(double x, double *dx, double dy) { *dx += ffgrad_trigamma(x) * dy; }
FFGRAD_DERIVATIVES(ffgrad_digamma, ffgrad_digamma_fwd, ffgrad_digamma_rev);

double ffgrad_lgamma(double x) { return lgamma(x); }
double ffgrad_lgamma_fwd(double x, double dx, double *dy) {
  *dy = ffgrad_digamma(x) * dx;
  return ffgrad_lgamma(x);
}
void ffgrad_lgamma_rev(double x, double *dx, double dy) { *dx += ffgrad_digamma(x) * dy; }
FFGRAD_DERIVATIVES(ffgrad_lgamma, ffgrad_lgamma_fwd, ffgrad_lgamma_rev);

double ffgrad_tgamma(double x) { return tgamma(x); }
double ffgrad_tgamma_fwd(double x, double dx, double *dy) {
  double y = ffgrad_tgamma(x);
  *dy = y * ffgrad_digamma(x) * dx;
  return y;
}
void ffgrad_tgamma_rev(double x, double *dx, double dy) { *dx += ffgrad_tgamma(x) * ffgrad_digamma(x) * dy; }
FFGRAD_DERIVATIVES(ffgrad_tgamma, ffgrad_tgamma_fwd, ffgrad_tgamma_rev);

/* In single precision through double. */
float ffgrad_lgammaf(float x) { return (float)ffgrad_lgamma(x); }
float ffgrad_tgammaf(float x) { return (float)ffgrad_tgamma(x); }
/* In double precision. */
long double ffgrad_lgammal(long double x) { return ffgrad_lgamma((double)x); }
long double ffgrad_tgammal(long double x) { return ffgrad_tgamma((double)x); }
