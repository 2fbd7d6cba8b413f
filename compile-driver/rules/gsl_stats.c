/* Polynomials, statistics and straight lines of GSL as code that Enzyme differentiates.
 *
 * Source: GSL's reference manual for what the names mean.
 */
#include <ffgrad/derivatives.h>
#include <math.h>
#include <stdlib.h>

FFGRAD_REPLACES(gsl_fit_linear, ffgrad_gsl_fit_linear)
FFGRAD_REPLACES(gsl_fit_linear_est, ffgrad_gsl_fit_linear_est)
FFGRAD_REPLACES(gsl_fit_mul, ffgrad_gsl_fit_mul)
FFGRAD_REPLACES(gsl_fit_wlinear, ffgrad_gsl_fit_wlinear)
FFGRAD_REPLACES(gsl_poly_dd_eval, ffgrad_gsl_poly_dd_eval)
FFGRAD_REPLACES(gsl_poly_dd_init, ffgrad_gsl_poly_dd_init)
FFGRAD_REPLACES(gsl_poly_eval, ffgrad_gsl_poly_eval)
FFGRAD_REPLACES(gsl_poly_eval_derivs, ffgrad_gsl_poly_eval_derivs)
FFGRAD_REPLACES(gsl_poly_solve_quadratic, ffgrad_gsl_poly_solve_quadratic)
FFGRAD_REPLACES(gsl_stats_absdev, ffgrad_gsl_stats_absdev)
FFGRAD_REPLACES(gsl_stats_absdev_m, ffgrad_gsl_stats_absdev_m)
FFGRAD_REPLACES(gsl_stats_correlation, ffgrad_gsl_stats_correlation)
FFGRAD_REPLACES(gsl_stats_covariance, ffgrad_gsl_stats_covariance)
FFGRAD_REPLACES(gsl_stats_covariance_m, ffgrad_gsl_stats_covariance_m)
FFGRAD_REPLACES(gsl_stats_kurtosis, ffgrad_gsl_stats_kurtosis)
FFGRAD_REPLACES(gsl_stats_kurtosis_m_sd, ffgrad_gsl_stats_kurtosis_m_sd)
FFGRAD_REPLACES(gsl_stats_max, ffgrad_gsl_stats_max)
FFGRAD_REPLACES(gsl_stats_mean, ffgrad_gsl_stats_mean)
FFGRAD_REPLACES(gsl_stats_median_from_sorted_data, ffgrad_gsl_stats_median_from_sorted_data)
FFGRAD_REPLACES(gsl_stats_min, ffgrad_gsl_stats_min)
FFGRAD_REPLACES(gsl_stats_quantile_from_sorted_data, ffgrad_gsl_stats_quantile_from_sorted_data)
FFGRAD_REPLACES(gsl_stats_sd, ffgrad_gsl_stats_sd)
FFGRAD_REPLACES(gsl_stats_sd_m, ffgrad_gsl_stats_sd_m)
FFGRAD_REPLACES(gsl_stats_sd_with_fixed_mean, ffgrad_gsl_stats_sd_with_fixed_mean)
FFGRAD_REPLACES(gsl_stats_skew, ffgrad_gsl_stats_skew)
FFGRAD_REPLACES(gsl_stats_skew_m_sd, ffgrad_gsl_stats_skew_m_sd)
FFGRAD_REPLACES(gsl_stats_tss, ffgrad_gsl_stats_tss)
FFGRAD_REPLACES(gsl_stats_tss_m, ffgrad_gsl_stats_tss_m)
FFGRAD_REPLACES(gsl_stats_variance, ffgrad_gsl_stats_variance)
FFGRAD_REPLACES(gsl_stats_variance_m, ffgrad_gsl_stats_variance_m)
FFGRAD_REPLACES(gsl_stats_variance_with_fixed_mean, ffgrad_gsl_stats_variance_with_fixed_mean)
FFGRAD_REPLACES(gsl_stats_wmean, ffgrad_gsl_stats_wmean)

#define G(name) ffgrad_gsl_##name
#define EACH(i, n) for (size_t i = 0; i < (n); i++)
#define X(i) x[(i) * sx]
#define Y(i) y[(i) * sy]
#define W(i) w[(i) * sw]

/* Polynomials */
double G(poly_eval)(const double *c, int n, double x) {
  double value = 0;
  for (int i = n - 1; i >= 0; i--) value = value * x + c[i];
  return value;
}
int G(poly_eval_derivs)(const double *c, size_t n, double x, double *to, size_t m) {
  EACH(k, m) to[k] = 0;
  double factorial = 1;
  EACH(k, m) {
    if (k) factorial *= (double)k;
    double value = 0;
    /* The coefficients of the k-th derivative are those of binomials. */
    for (size_t i = n; i > k; i--) {
      double binomial = 1;
      EACH(j, k) binomial *= (double)(i - 1 - j) / (double)(j + 1);
      value = value * x + binomial * c[i - 1];
    }
    to[k] = factorial * value;
  }
  return 0;
}
int G(poly_dd_init)(double *to, const double *x, const double *y, size_t n) {
  EACH(i, n) to[i] = y[i];
  for (size_t k = 1; k < n; k++)
    for (size_t i = n - 1; i >= k; i--) to[i] = (to[i] - to[i - 1]) / (x[i] - x[i - k]);
  return 0;
}
double G(poly_dd_eval)(const double *dd, const double *x, size_t n, double at) {
  double value = dd[n - 1];
  for (size_t i = n - 1; i > 0; i--) value = dd[i - 1] + (at - x[i - 1]) * value;
  return value;
}
int G(poly_solve_quadratic)(double a, double b, double c, double *low, double *high) {
  if (a == 0) {
    if (b == 0) return 0;
    *low = -c / b;
    return 1;
  }
  double disc = b * b - 4 * a * c;
  if (disc < 0) return 0;
  if (b == 0 || disc == 0) {
    double root = b == 0 ? sqrt(-c / a) : 0, middle = -0.5 * b / a;
    *low = middle - root;
    *high = middle + root;
    return 2;
  }
  double t = -0.5 * (b + (b > 0 ? sqrt(disc) : -sqrt(disc))), p = t / a, q = c / t;
  *low = p < q ? p : q;
  *high = p < q ? q : p;
  return 2;
}

/* Statistics */
double G(stats_mean)(const double *x, size_t sx, size_t n) {
  double sum = 0;
  EACH(i, n) sum += X(i);
  return sum / (double)n;
}
static double power_sum(const double *x, size_t sx, size_t n, double m, int power) {
  double sum = 0;
  EACH(i, n) {
    double t = X(i) - m;
    sum += power == 2 ? t * t : power == 3 ? t * t * t : t * t * t * t;
  }
  return sum;
}
double G(stats_tss_m)(const double *x, size_t sx, size_t n, double m) { return power_sum(x, sx, n, m, 2); }
double G(stats_tss)(const double *x, size_t sx, size_t n) { return power_sum(x, sx, n, G(stats_mean)(x, sx, n), 2); }
double G(stats_variance_m)(const double *x, size_t sx, size_t n, double m) {
  return power_sum(x, sx, n, m, 2) / (double)(n - 1);
}
double G(stats_variance)(const double *x, size_t sx, size_t n) {
  return G(stats_variance_m)(x, sx, n, G(stats_mean)(x, sx, n));
}
double G(stats_variance_with_fixed_mean)(const double *x, size_t sx, size_t n, double m) {
  return power_sum(x, sx, n, m, 2) / (double)n;
}
double G(stats_sd_m)(const double *x, size_t sx, size_t n, double m) { return sqrt(G(stats_variance_m)(x, sx, n, m)); }
double G(stats_sd)(const double *x, size_t sx, size_t n) { return sqrt(G(stats_variance)(x, sx, n)); }
double G(stats_sd_with_fixed_mean)(const double *x, size_t sx, size_t n, double m) {
  return sqrt(G(stats_variance_with_fixed_mean)(x, sx, n, m));
}
double G(stats_absdev_m)(const double *x, size_t sx, size_t n, double m) {
  double sum = 0;
  EACH(i, n) sum += fabs(X(i) - m);
  return sum / (double)n;
}
double G(stats_absdev)(const double *x, size_t sx, size_t n) { return G(stats_absdev_m)(x, sx, n, G(stats_mean)(x, sx, n)); }
double G(stats_skew_m_sd)(const double *x, size_t sx, size_t n, double m, double sd) {
  return power_sum(x, sx, n, m, 3) / (sd * sd * sd) / (double)n;
}
double G(stats_skew)(const double *x, size_t sx, size_t n) {
  return G(stats_skew_m_sd)(x, sx, n, G(stats_mean)(x, sx, n), G(stats_sd)(x, sx, n));
}
double G(stats_kurtosis_m_sd)(const double *x, size_t sx, size_t n, double m, double sd) {
  return power_sum(x, sx, n, m, 4) / (sd * sd * sd * sd) / (double)n - 3;
}
double G(stats_kurtosis)(const double *x, size_t sx, size_t n) {
  return G(stats_kurtosis_m_sd)(x, sx, n, G(stats_mean)(x, sx, n), G(stats_sd)(x, sx, n));
}
double G(stats_covariance_m)(const double *x, size_t sx, const double *y, size_t sy, size_t n, double mx, double my) {
  double sum = 0;
  EACH(i, n) sum += (X(i) - mx) * (Y(i) - my);
  return sum / (double)(n - 1);
}
double G(stats_covariance)(const double *x, size_t sx, const double *y, size_t sy, size_t n) {
  return G(stats_covariance_m)(x, sx, y, sy, n, G(stats_mean)(x, sx, n), G(stats_mean)(y, sy, n));
}
double G(stats_correlation)(const double *x, size_t sx, const double *y, size_t sy, size_t n) {
  return G(stats_covariance)(x, sx, y, sy, n) / (G(stats_sd)(x, sx, n) * G(stats_sd)(y, sy, n));
}
double G(stats_wmean)(const double *w, size_t sw, const double *x, size_t sx, size_t n) {
  double sum = 0, weights = 0;
  EACH(i, n) if (W(i) > 0) {
    sum += W(i) * X(i);
    weights += W(i);
  }
  return sum / weights;
}
double G(stats_max)(const double *x, size_t sx, size_t n) {
  size_t at = 0;
  EACH(i, n) if (X(i) > X(at)) at = i;
  return X(at);
}
double G(stats_min)(const double *x, size_t sx, size_t n) {
  size_t at = 0;
  EACH(i, n) if (X(i) < X(at)) at = i;
  return X(at);
}
double G(stats_quantile_from_sorted_data)(const double *x, size_t sx, size_t n, double f) {
  double index = f * (double)(n - 1);
  size_t low = (size_t)index;
  double rest = index - (double)low;
  return low + 1 >= n ? X(n - 1) : (1 - rest) * X(low) + rest * X(low + 1);
}
double G(stats_median_from_sorted_data)(const double *x, size_t sx, size_t n) {
  return n % 2 ? X(n / 2) : (X(n / 2 - 1) + X(n / 2)) / 2;
}

/* Lines of least squares, with the covariances of their coefficients. */
int G(fit_wlinear)(const double *x, size_t sx, const double *w, size_t sw, const double *y, size_t sy, size_t n, double *c0,
                   double *c1, double *cov00, double *cov01, double *cov11, double *chisq) {
  double weights = 0, mx = 0, my = 0, dx2 = 0, dxdy = 0, rest = 0;
  EACH(i, n) if (W(i) > 0) {
    weights += W(i);
    mx += W(i) * X(i);
    my += W(i) * Y(i);
  }
  mx /= weights;
  my /= weights;
  EACH(i, n) if (W(i) > 0) {
    dx2 += W(i) * (X(i) - mx) * (X(i) - mx);
    dxdy += W(i) * (X(i) - mx) * (Y(i) - my);
  }
  double b = dxdy / dx2;
  EACH(i, n) if (W(i) > 0) {
    double r = Y(i) - my - b * (X(i) - mx);
    rest += W(i) * r * r;
  }
  *c0 = my - b * mx;
  *c1 = b;
  *cov00 = 1 / weights + mx * mx / dx2;
  *cov01 = -mx / dx2;
  *cov11 = 1 / dx2;
  *chisq = rest;
  return 0;
}
/* The variance of the data is that of the residuals. */
int G(fit_linear)(const double *x, size_t sx, const double *y, size_t sy, size_t n, double *c0, double *c1, double *cov00,
                  double *cov01, double *cov11, double *sumsq) {
  const double one = 1;
  double a, b, v00, v01, v11, rest;
  G(fit_wlinear)(x, sx, &one, 0, y, sy, n, &a, &b, &v00, &v01, &v11, &rest);
  double s2 = rest / ((double)n - 2);
  *c0 = a;
  *c1 = b;
  *cov00 = s2 * v00;
  *cov01 = s2 * v01;
  *cov11 = s2 * v11;
  *sumsq = rest;
  return 0;
}
int G(fit_linear_est)(double x, double c0, double c1, double cov00, double cov01, double cov11, double *y, double *error) {
  *y = c0 + c1 * x;
  *error = sqrt(cov00 + x * (2 * cov01 + cov11 * x));
  return 0;
}
int G(fit_mul)(const double *x, size_t sx, const double *y, size_t sy, size_t n, double *c1, double *cov11, double *sumsq) {
  double x2 = 0, xy = 0, rest = 0;
  EACH(i, n) {
    x2 += X(i) * X(i);
    xy += X(i) * Y(i);
  }
  double b = xy / x2;
  EACH(i, n) rest += (Y(i) - b * X(i)) * (Y(i) - b * X(i));
  *c1 = b;
  *cov11 = rest / ((double)n - 1) / x2;
  *sumsq = rest;
  return 0;
}
