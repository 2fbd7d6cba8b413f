/* Densities, distribution functions and their inverses of GSL: the elementary ones as code, which Enzyme differentiates, the
 * others by their densities. A derivative that is not known, by a shape parameter of the t, F and beta distributions, is
 * not-a-number.
 *
 * Source: GSL's reference manual, chapters "Random Number Distributions" and "Cumulative Distribution Functions", for the
 * definitions; NIST Digital Library of Mathematical Functions, dlmf.nist.gov, 8.17.1 for the incomplete beta function.
 */
#include <ffgrad/rules/gsl.h>
#include <stddef.h>

FFGRAD_REPLACES(gsl_cdf_beta_P, ffgrad_gsl_cdf_beta_P)
FFGRAD_REPLACES(gsl_cdf_beta_Pinv, ffgrad_gsl_cdf_beta_Pinv)
FFGRAD_REPLACES(gsl_cdf_beta_Q, ffgrad_gsl_cdf_beta_Q)
FFGRAD_REPLACES(gsl_cdf_beta_Qinv, ffgrad_gsl_cdf_beta_Qinv)
FFGRAD_REPLACES(gsl_cdf_binomial_P, ffgrad_gsl_cdf_binomial_P)
FFGRAD_REPLACES(gsl_cdf_binomial_Q, ffgrad_gsl_cdf_binomial_Q)
FFGRAD_REPLACES(gsl_cdf_cauchy_P, ffgrad_gsl_cdf_cauchy_P)
FFGRAD_REPLACES(gsl_cdf_cauchy_Pinv, ffgrad_gsl_cdf_cauchy_Pinv)
FFGRAD_REPLACES(gsl_cdf_cauchy_Q, ffgrad_gsl_cdf_cauchy_Q)
FFGRAD_REPLACES(gsl_cdf_cauchy_Qinv, ffgrad_gsl_cdf_cauchy_Qinv)
FFGRAD_REPLACES(gsl_cdf_chisq_P, ffgrad_gsl_cdf_chisq_P)
FFGRAD_REPLACES(gsl_cdf_chisq_Pinv, ffgrad_gsl_cdf_chisq_Pinv)
FFGRAD_REPLACES(gsl_cdf_chisq_Q, ffgrad_gsl_cdf_chisq_Q)
FFGRAD_REPLACES(gsl_cdf_chisq_Qinv, ffgrad_gsl_cdf_chisq_Qinv)
FFGRAD_REPLACES(gsl_cdf_exponential_P, ffgrad_gsl_cdf_exponential_P)
FFGRAD_REPLACES(gsl_cdf_exponential_Pinv, ffgrad_gsl_cdf_exponential_Pinv)
FFGRAD_REPLACES(gsl_cdf_exponential_Q, ffgrad_gsl_cdf_exponential_Q)
FFGRAD_REPLACES(gsl_cdf_exponential_Qinv, ffgrad_gsl_cdf_exponential_Qinv)
FFGRAD_REPLACES(gsl_cdf_fdist_P, ffgrad_gsl_cdf_fdist_P)
FFGRAD_REPLACES(gsl_cdf_fdist_Pinv, ffgrad_gsl_cdf_fdist_Pinv)
FFGRAD_REPLACES(gsl_cdf_fdist_Q, ffgrad_gsl_cdf_fdist_Q)
FFGRAD_REPLACES(gsl_cdf_fdist_Qinv, ffgrad_gsl_cdf_fdist_Qinv)
FFGRAD_REPLACES(gsl_cdf_flat_P, ffgrad_gsl_cdf_flat_P)
FFGRAD_REPLACES(gsl_cdf_flat_Pinv, ffgrad_gsl_cdf_flat_Pinv)
FFGRAD_REPLACES(gsl_cdf_flat_Q, ffgrad_gsl_cdf_flat_Q)
FFGRAD_REPLACES(gsl_cdf_flat_Qinv, ffgrad_gsl_cdf_flat_Qinv)
FFGRAD_REPLACES(gsl_cdf_gamma_P, ffgrad_gsl_cdf_gamma_P)
FFGRAD_REPLACES(gsl_cdf_gamma_Pinv, ffgrad_gsl_cdf_gamma_Pinv)
FFGRAD_REPLACES(gsl_cdf_gamma_Q, ffgrad_gsl_cdf_gamma_Q)
FFGRAD_REPLACES(gsl_cdf_gamma_Qinv, ffgrad_gsl_cdf_gamma_Qinv)
FFGRAD_REPLACES(gsl_cdf_gaussian_P, ffgrad_gsl_cdf_gaussian_P)
FFGRAD_REPLACES(gsl_cdf_gaussian_Pinv, ffgrad_gsl_cdf_gaussian_Pinv)
FFGRAD_REPLACES(gsl_cdf_gaussian_Q, ffgrad_gsl_cdf_gaussian_Q)
FFGRAD_REPLACES(gsl_cdf_gaussian_Qinv, ffgrad_gsl_cdf_gaussian_Qinv)
FFGRAD_REPLACES(gsl_cdf_gumbel1_P, ffgrad_gsl_cdf_gumbel1_P)
FFGRAD_REPLACES(gsl_cdf_gumbel1_Pinv, ffgrad_gsl_cdf_gumbel1_Pinv)
FFGRAD_REPLACES(gsl_cdf_gumbel1_Q, ffgrad_gsl_cdf_gumbel1_Q)
FFGRAD_REPLACES(gsl_cdf_gumbel1_Qinv, ffgrad_gsl_cdf_gumbel1_Qinv)
FFGRAD_REPLACES(gsl_cdf_gumbel2_P, ffgrad_gsl_cdf_gumbel2_P)
FFGRAD_REPLACES(gsl_cdf_gumbel2_Pinv, ffgrad_gsl_cdf_gumbel2_Pinv)
FFGRAD_REPLACES(gsl_cdf_gumbel2_Q, ffgrad_gsl_cdf_gumbel2_Q)
FFGRAD_REPLACES(gsl_cdf_gumbel2_Qinv, ffgrad_gsl_cdf_gumbel2_Qinv)
FFGRAD_REPLACES(gsl_cdf_laplace_P, ffgrad_gsl_cdf_laplace_P)
FFGRAD_REPLACES(gsl_cdf_laplace_Pinv, ffgrad_gsl_cdf_laplace_Pinv)
FFGRAD_REPLACES(gsl_cdf_laplace_Q, ffgrad_gsl_cdf_laplace_Q)
FFGRAD_REPLACES(gsl_cdf_laplace_Qinv, ffgrad_gsl_cdf_laplace_Qinv)
FFGRAD_REPLACES(gsl_cdf_logistic_P, ffgrad_gsl_cdf_logistic_P)
FFGRAD_REPLACES(gsl_cdf_logistic_Pinv, ffgrad_gsl_cdf_logistic_Pinv)
FFGRAD_REPLACES(gsl_cdf_logistic_Q, ffgrad_gsl_cdf_logistic_Q)
FFGRAD_REPLACES(gsl_cdf_logistic_Qinv, ffgrad_gsl_cdf_logistic_Qinv)
FFGRAD_REPLACES(gsl_cdf_lognormal_P, ffgrad_gsl_cdf_lognormal_P)
FFGRAD_REPLACES(gsl_cdf_lognormal_Pinv, ffgrad_gsl_cdf_lognormal_Pinv)
FFGRAD_REPLACES(gsl_cdf_lognormal_Q, ffgrad_gsl_cdf_lognormal_Q)
FFGRAD_REPLACES(gsl_cdf_lognormal_Qinv, ffgrad_gsl_cdf_lognormal_Qinv)
FFGRAD_REPLACES(gsl_cdf_pareto_P, ffgrad_gsl_cdf_pareto_P)
FFGRAD_REPLACES(gsl_cdf_pareto_Pinv, ffgrad_gsl_cdf_pareto_Pinv)
FFGRAD_REPLACES(gsl_cdf_pareto_Q, ffgrad_gsl_cdf_pareto_Q)
FFGRAD_REPLACES(gsl_cdf_pareto_Qinv, ffgrad_gsl_cdf_pareto_Qinv)
FFGRAD_REPLACES(gsl_cdf_poisson_P, ffgrad_gsl_cdf_poisson_P)
FFGRAD_REPLACES(gsl_cdf_poisson_Q, ffgrad_gsl_cdf_poisson_Q)
FFGRAD_REPLACES(gsl_cdf_rayleigh_P, ffgrad_gsl_cdf_rayleigh_P)
FFGRAD_REPLACES(gsl_cdf_rayleigh_Pinv, ffgrad_gsl_cdf_rayleigh_Pinv)
FFGRAD_REPLACES(gsl_cdf_rayleigh_Q, ffgrad_gsl_cdf_rayleigh_Q)
FFGRAD_REPLACES(gsl_cdf_rayleigh_Qinv, ffgrad_gsl_cdf_rayleigh_Qinv)
FFGRAD_REPLACES(gsl_cdf_tdist_P, ffgrad_gsl_cdf_tdist_P)
FFGRAD_REPLACES(gsl_cdf_tdist_Pinv, ffgrad_gsl_cdf_tdist_Pinv)
FFGRAD_REPLACES(gsl_cdf_tdist_Q, ffgrad_gsl_cdf_tdist_Q)
FFGRAD_REPLACES(gsl_cdf_tdist_Qinv, ffgrad_gsl_cdf_tdist_Qinv)
FFGRAD_REPLACES(gsl_cdf_ugaussian_P, ffgrad_gsl_cdf_ugaussian_P)
FFGRAD_REPLACES(gsl_cdf_ugaussian_Pinv, ffgrad_gsl_cdf_ugaussian_Pinv)
FFGRAD_REPLACES(gsl_cdf_ugaussian_Q, ffgrad_gsl_cdf_ugaussian_Q)
FFGRAD_REPLACES(gsl_cdf_ugaussian_Qinv, ffgrad_gsl_cdf_ugaussian_Qinv)
FFGRAD_REPLACES(gsl_cdf_weibull_P, ffgrad_gsl_cdf_weibull_P)
FFGRAD_REPLACES(gsl_cdf_weibull_Pinv, ffgrad_gsl_cdf_weibull_Pinv)
FFGRAD_REPLACES(gsl_cdf_weibull_Q, ffgrad_gsl_cdf_weibull_Q)
FFGRAD_REPLACES(gsl_cdf_weibull_Qinv, ffgrad_gsl_cdf_weibull_Qinv)
FFGRAD_REPLACES(gsl_ran_bernoulli_pdf, ffgrad_gsl_ran_bernoulli_pdf)
FFGRAD_REPLACES(gsl_ran_beta_pdf, ffgrad_gsl_ran_beta_pdf)
FFGRAD_REPLACES(gsl_ran_binomial_pdf, ffgrad_gsl_ran_binomial_pdf)
FFGRAD_REPLACES(gsl_ran_bivariate_gaussian_pdf, ffgrad_gsl_ran_bivariate_gaussian_pdf)
FFGRAD_REPLACES(gsl_ran_cauchy_pdf, ffgrad_gsl_ran_cauchy_pdf)
FFGRAD_REPLACES(gsl_ran_chisq_pdf, ffgrad_gsl_ran_chisq_pdf)
FFGRAD_REPLACES(gsl_ran_dirichlet_pdf, ffgrad_gsl_ran_dirichlet_pdf)
FFGRAD_REPLACES(gsl_ran_erlang_pdf, ffgrad_gsl_ran_erlang_pdf)
FFGRAD_REPLACES(gsl_ran_exponential_pdf, ffgrad_gsl_ran_exponential_pdf)
FFGRAD_REPLACES(gsl_ran_exppow_pdf, ffgrad_gsl_ran_exppow_pdf)
FFGRAD_REPLACES(gsl_ran_fdist_pdf, ffgrad_gsl_ran_fdist_pdf)
FFGRAD_REPLACES(gsl_ran_flat_pdf, ffgrad_gsl_ran_flat_pdf)
FFGRAD_REPLACES(gsl_ran_gamma_pdf, ffgrad_gsl_ran_gamma_pdf)
FFGRAD_REPLACES(gsl_ran_gaussian_pdf, ffgrad_gsl_ran_gaussian_pdf)
FFGRAD_REPLACES(gsl_ran_gaussian_tail_pdf, ffgrad_gsl_ran_gaussian_tail_pdf)
FFGRAD_REPLACES(gsl_ran_geometric_pdf, ffgrad_gsl_ran_geometric_pdf)
FFGRAD_REPLACES(gsl_ran_gumbel1_pdf, ffgrad_gsl_ran_gumbel1_pdf)
FFGRAD_REPLACES(gsl_ran_gumbel2_pdf, ffgrad_gsl_ran_gumbel2_pdf)
FFGRAD_REPLACES(gsl_ran_laplace_pdf, ffgrad_gsl_ran_laplace_pdf)
FFGRAD_REPLACES(gsl_ran_logistic_pdf, ffgrad_gsl_ran_logistic_pdf)
FFGRAD_REPLACES(gsl_ran_lognormal_pdf, ffgrad_gsl_ran_lognormal_pdf)
FFGRAD_REPLACES(gsl_ran_negative_binomial_pdf, ffgrad_gsl_ran_negative_binomial_pdf)
FFGRAD_REPLACES(gsl_ran_pareto_pdf, ffgrad_gsl_ran_pareto_pdf)
FFGRAD_REPLACES(gsl_ran_poisson_pdf, ffgrad_gsl_ran_poisson_pdf)
FFGRAD_REPLACES(gsl_ran_rayleigh_pdf, ffgrad_gsl_ran_rayleigh_pdf)
FFGRAD_REPLACES(gsl_ran_rayleigh_tail_pdf, ffgrad_gsl_ran_rayleigh_tail_pdf)
FFGRAD_REPLACES(gsl_ran_tdist_pdf, ffgrad_gsl_ran_tdist_pdf)
FFGRAD_REPLACES(gsl_ran_ugaussian_pdf, ffgrad_gsl_ran_ugaussian_pdf)
FFGRAD_REPLACES(gsl_ran_ugaussian_tail_pdf, ffgrad_gsl_ran_ugaussian_tail_pdf)
FFGRAD_REPLACES(gsl_ran_weibull_pdf, ffgrad_gsl_ran_weibull_pdf)

FFGRAD_NEEDS(gsl_sf.c)

double G(sf_lngamma)(double);
double G(sf_psi)(double);
double G(sf_lnbeta)(double, double);
double G(sf_gamma_inc_P)(double, double);
double G(sf_gamma_inc_Q)(double, double);
double G(sf_beta_inc)(double, double, double);

#define ROOT_HALF 0.70710678118654752440
#define ROOT_TWO_PI 2.50662827463100050242

/* Densities. */
double G(ran_ugaussian_pdf)(double x) { return exp(-0.5 * x * x) / ROOT_TWO_PI; }
double G(ran_gaussian_pdf)(double x, double s) { return exp(-0.5 * (x / s) * (x / s)) / (ROOT_TWO_PI * fabs(s)); }
double G(ran_gaussian_tail_pdf)(double x, double a, double s) {
  return x < a ? 0 : G(ran_gaussian_pdf)(x, s) / (0.5 * erfc(a / s * ROOT_HALF));
}
double G(ran_ugaussian_tail_pdf)(double x, double a) { return G(ran_gaussian_tail_pdf)(x, a, 1); }
double G(ran_bivariate_gaussian_pdf)(double x, double y, double sx, double sy, double rho) {
  double u = x / sx, v = y / sy, c = 1 - rho * rho;
  return exp(-(u * u - 2 * rho * u * v + v * v) / (2 * c)) / (2 * PI * sx * sy * sqrt(c));
}
double G(ran_exponential_pdf)(double x, double mu) { return x < 0 ? 0 : exp(-x / mu) / mu; }
double G(ran_laplace_pdf)(double x, double a) { return exp(-fabs(x / a)) / (2 * a); }
double G(ran_exppow_pdf)(double x, double a, double b) {
  return b / (2 * a) * exp(-pow(fabs(x / a), b) - G(sf_lngamma)(1 / b));
}
double G(ran_cauchy_pdf)(double x, double a) { return 1 / (PI * a * (1 + (x / a) * (x / a))); }
double G(ran_rayleigh_pdf)(double x, double s) { return x < 0 ? 0 : x / (s * s) * exp(-0.5 * (x / s) * (x / s)); }
double G(ran_rayleigh_tail_pdf)(double x, double a, double s) {
  return x < a ? 0 : x / (s * s) * exp(0.5 * (a + x) / s * ((a - x) / s));
}
double G(ran_gamma_pdf)(double x, double a, double b) {
  if (x < 0) return 0;
  if (x == 0) return a == 1 ? 1 / b : a < 1 ? INFINITY : 0;
  return exp((a - 1) * log(x / b) - x / b - G(sf_lngamma)(a)) / b;
}
double G(ran_erlang_pdf)(double x, double a, double n) {
  return x <= 0 ? 0 : exp((n - 1) * log(x / a) - x / a - G(sf_lngamma)(n)) / a;
}
double G(ran_chisq_pdf)(double x, double nu) { return G(ran_gamma_pdf)(x, 0.5 * nu, 2); }
double G(ran_tdist_pdf)(double x, double nu) {
  return exp(G(sf_lngamma)(0.5 * (nu + 1)) - G(sf_lngamma)(0.5 * nu) - 0.5 * (nu + 1) * log1p(x * x / nu)) /
         sqrt(PI * nu);
}
double G(ran_fdist_pdf)(double x, double n, double m) {
  if (x < 0) return 0;
  return exp(0.5 * n * log(n) + 0.5 * m * log(m) - G(sf_lnbeta)(0.5 * n, 0.5 * m) + (0.5 * n - 1) * log(x) -
             0.5 * (n + m) * log(m + n * x));
}
double G(ran_beta_pdf)(double x, double a, double b) {
  if (x < 0 || x > 1) return 0;
  double scale = exp(-G(sf_lnbeta)(a, b));
  if (x == 0 || x == 1) return pow(x, a - 1) * pow(1 - x, b - 1) * scale;
  return exp((a - 1) * log(x) + (b - 1) * log1p(-x)) * scale;
}
double G(ran_flat_pdf)(double x, double a, double b) { return a <= x && x < b ? 1 / (b - a) : 0; }
double G(ran_lognormal_pdf)(double x, double zeta, double s) {
  return x <= 0 ? 0 : G(ran_gaussian_pdf)(log(x) - zeta, s) / x;
}
double G(ran_logistic_pdf)(double x, double a) {
  double u = exp(-fabs(x) / a);
  return u / (fabs(a) * (1 + u) * (1 + u));
}
double G(ran_pareto_pdf)(double x, double a, double b) { return x < b ? 0 : a / b * exp(-(a + 1) * log(x / b)); }
double G(ran_weibull_pdf)(double x, double a, double b) {
  if (x < 0) return 0;
  if (x == 0) return b == 1 ? 1 / a : b < 1 ? INFINITY : 0;
  return b / a * exp(-pow(x / a, b) + (b - 1) * log(x / a));
}
double G(ran_gumbel1_pdf)(double x, double a, double b) { return a * b * exp(-(b * exp(-a * x) + a * x)); }
double G(ran_gumbel2_pdf)(double x, double a, double b) {
  return x <= 0 ? 0 : a * b * exp(-b * pow(x, -a) - (a + 1) * log(x));
}
double G(ran_dirichlet_pdf)(size_t n, const double *alpha, const double *theta) {
  double sum = 0, value = 0;
  for (size_t i = 0; i < n; i++) sum += alpha[i];
  value = G(sf_lngamma)(sum);
  for (size_t i = 0; i < n; i++) value += (alpha[i] - 1) * log(theta[i]) - G(sf_lngamma)(alpha[i]);
  return exp(value);
}
double G(ran_bernoulli_pdf)(unsigned k, double p) { return k == 0 ? 1 - p : k == 1 ? p : 0; }
double G(ran_poisson_pdf)(unsigned k, double mu) {
  return k == 0 ? exp(-mu) : exp(k * log(mu) - mu - G(sf_lngamma)(k + 1.0));
}
double G(ran_binomial_pdf)(unsigned k, double p, unsigned n) {
  if (k > n) return 0;
  double choose = exp(G(sf_lngamma)(n + 1.0) - G(sf_lngamma)(k + 1.0) - G(sf_lngamma)(n - k + 1.0));
  return choose * (k == 0 ? 1 : pow(p, (double)k)) * (k == n ? 1 : pow(1 - p, (double)(n - k)));
}
double G(ran_geometric_pdf)(unsigned k, double p) { return k == 0 ? 0 : k == 1 ? p : p * pow(1 - p, k - 1.0); }
double G(ran_negative_binomial_pdf)(unsigned k, double p, double n) {
  double choose = exp(G(sf_lngamma)(k + n) - G(sf_lngamma)(n) - G(sf_lngamma)(k + 1.0));
  return choose * pow(p, n) * (k == 0 ? 1 : pow(1 - p, (double)k));
}

/* Distribution functions P, tails Q = 1 - P. */
double G(cdf_ugaussian_P)(double x) { return 0.5 * erfc(-x * ROOT_HALF); }
double G(cdf_ugaussian_Q)(double x) { return 0.5 * erfc(x * ROOT_HALF); }
double G(cdf_gaussian_P)(double x, double s) { return G(cdf_ugaussian_P)(x / s); }
double G(cdf_gaussian_Q)(double x, double s) { return G(cdf_ugaussian_Q)(x / s); }
double G(cdf_lognormal_P)(double x, double zeta, double s) { return x <= 0 ? 0 : G(cdf_gaussian_P)(log(x) - zeta, s); }
double G(cdf_lognormal_Q)(double x, double zeta, double s) { return x <= 0 ? 1 : G(cdf_gaussian_Q)(log(x) - zeta, s); }
double G(cdf_exponential_P)(double x, double mu) { return x < 0 ? 0 : -expm1(-x / mu); }
double G(cdf_exponential_Q)(double x, double mu) { return x < 0 ? 1 : exp(-x / mu); }
double G(cdf_laplace_P)(double x, double a) { return x > 0 ? 1 - 0.5 * exp(-x / a) : 0.5 * exp(x / a); }
double G(cdf_laplace_Q)(double x, double a) { return x > 0 ? 0.5 * exp(-x / a) : 1 - 0.5 * exp(x / a); }
double G(cdf_cauchy_P)(double x, double a) { return x > -a ? 0.5 + atan(x / a) / PI : -atan(a / x) / PI; }
double G(cdf_cauchy_Q)(double x, double a) { return x < a ? 0.5 - atan(x / a) / PI : atan(a / x) / PI; }
double G(cdf_rayleigh_P)(double x, double s) { return x < 0 ? 0 : -expm1(-0.5 * (x / s) * (x / s)); }
double G(cdf_rayleigh_Q)(double x, double s) { return x < 0 ? 1 : exp(-0.5 * (x / s) * (x / s)); }
double G(cdf_logistic_P)(double x, double a) { return x > 0 ? 1 / (1 + exp(-x / a)) : exp(x / a) / (1 + exp(x / a)); }
double G(cdf_logistic_Q)(double x, double a) { return G(cdf_logistic_P)(-x, a); }
double G(cdf_pareto_P)(double x, double a, double b) { return x < b ? 0 : 1 - pow(b / x, a); }
double G(cdf_pareto_Q)(double x, double a, double b) { return x < b ? 1 : pow(b / x, a); }
double G(cdf_weibull_P)(double x, double a, double b) { return x <= 0 ? 0 : -expm1(-pow(x / a, b)); }
double G(cdf_weibull_Q)(double x, double a, double b) { return x <= 0 ? 1 : exp(-pow(x / a, b)); }
double G(cdf_gumbel1_P)(double x, double a, double b) { return exp(-b * exp(-a * x)); }
double G(cdf_gumbel1_Q)(double x, double a, double b) { return -expm1(-b * exp(-a * x)); }
double G(cdf_gumbel2_P)(double x, double a, double b) { return x == 0 ? 0 : exp(-b * pow(x, -a)); }
double G(cdf_gumbel2_Q)(double x, double a, double b) { return x == 0 ? 1 : -expm1(-b * pow(x, -a)); }
double G(cdf_flat_P)(double x, double a, double b) { return x < a ? 0 : x >= b ? 1 : (x - a) / (b - a); }
double G(cdf_flat_Q)(double x, double a, double b) { return x < a ? 1 : x >= b ? 0 : (b - x) / (b - a); }
double G(cdf_gamma_P)(double x, double a, double b) { return x <= 0 ? 0 : G(sf_gamma_inc_P)(a, x / b); }
double G(cdf_gamma_Q)(double x, double a, double b) { return x <= 0 ? 1 : G(sf_gamma_inc_Q)(a, x / b); }
double G(cdf_chisq_P)(double x, double nu) { return G(cdf_gamma_P)(x, 0.5 * nu, 2); }
double G(cdf_chisq_Q)(double x, double nu) { return G(cdf_gamma_Q)(x, 0.5 * nu, 2); }
double G(cdf_poisson_P)(unsigned k, double mu) { return G(sf_gamma_inc_Q)(k + 1.0, mu); }
double G(cdf_poisson_Q)(unsigned k, double mu) { return G(sf_gamma_inc_P)(k + 1.0, mu); }
double G(cdf_beta_P)(double x, double a, double b) { return x <= 0 ? 0 : x >= 1 ? 1 : G(sf_beta_inc)(a, b, x); }
double G(cdf_beta_Q)(double x, double a, double b) { return x <= 0 ? 1 : x >= 1 ? 0 : G(sf_beta_inc)(b, a, 1 - x); }
double G(cdf_binomial_P)(unsigned k, double p, unsigned n) { return k >= n ? 1 : G(cdf_beta_Q)(p, k + 1.0, (double)(n - k)); }
double G(cdf_binomial_Q)(unsigned k, double p, unsigned n) { return k >= n ? 0 : G(cdf_beta_P)(p, k + 1.0, (double)(n - k)); }

/* Inverses of those that have one in closed form. */
double G(cdf_exponential_Pinv)(double p, double mu) { return -mu * log1p(-p); }
double G(cdf_exponential_Qinv)(double q, double mu) { return -mu * log(q); }
double G(cdf_laplace_Pinv)(double p, double a) { return p < 0.5 ? a * log(2 * p) : -a * log(2 * (1 - p)); }
double G(cdf_laplace_Qinv)(double q, double a) { return q < 0.5 ? -a * log(2 * q) : a * log(2 * (1 - q)); }
/* As the quotient, because calls of tan in rules are not replaced. */
static double tangent(double x) { return sin(PI * x) / cos(PI * x); }
double G(cdf_cauchy_Pinv)(double p, double a) { return p > 0.5 ? a * tangent(p - 0.5) : -a / tangent(p); }
double G(cdf_cauchy_Qinv)(double q, double a) { return q > 0.5 ? -a * tangent(q - 0.5) : a / tangent(q); }
double G(cdf_rayleigh_Pinv)(double p, double s) { return p == 0 ? 0 : s * sqrt(-2 * log1p(-p)); }
double G(cdf_rayleigh_Qinv)(double q, double s) { return q == 1 ? 0 : s * sqrt(-2 * log(q)); }
double G(cdf_logistic_Pinv)(double p, double a) { return a * (log(p) - log1p(-p)); }
double G(cdf_logistic_Qinv)(double q, double a) { return a * (log1p(-q) - log(q)); }
double G(cdf_pareto_Pinv)(double p, double a, double b) { return b * exp(-log1p(-p) / a); }
double G(cdf_pareto_Qinv)(double q, double a, double b) { return b * exp(-log(q) / a); }
double G(cdf_weibull_Pinv)(double p, double a, double b) { return p == 0 ? 0 : a * pow(-log1p(-p), 1 / b); }
double G(cdf_weibull_Qinv)(double q, double a, double b) { return q == 1 ? 0 : a * pow(-log(q), 1 / b); }
double G(cdf_gumbel1_Pinv)(double p, double a, double b) { return log(-b / log(p)) / a; }
double G(cdf_gumbel1_Qinv)(double q, double a, double b) { return log(-b / log1p(-q)) / a; }
double G(cdf_gumbel2_Pinv)(double p, double a, double b) { return pow(-b / log(p), 1 / a); }
double G(cdf_gumbel2_Qinv)(double q, double a, double b) { return pow(-b / log1p(-q), 1 / a); }
double G(cdf_flat_Pinv)(double p, double a, double b) { return (1 - p) * a + p * b; }
double G(cdf_flat_Qinv)(double q, double a, double b) { return q * a + (1 - q) * b; }

/* The others: by the inverse function's derivative, the reciprocal of the density. */
#define OF_ONE(name, slope) \
  extern double gsl_##name(double); \
  double G(name)(double x) { return gsl_##name(x); } \
  double G(name##_fwd)(double x, double dx, double *dy) { \
    double y = G(name)(x); \
    *dy = (slope)*dx; \
    return y; \
  } \
  void G(name##_rev)(double x, double *dx, double dy) { \
    double y = G(name)(x); \
    *dx += (slope)*dy; \
  } \
  FFGRAD_DERIVATIVES(ffgrad_gsl_##name, ffgrad_gsl_##name##_fwd, ffgrad_gsl_##name##_rev);
#define OF_TWO(name, slope, slope_a) \
  extern double gsl_##name(double, double); \
  double G(name)(double x, double a) { return gsl_##name(x, a); } \
  double G(name##_fwd)(double x, double dx, double a, double da, double *dy) { \
    double y = G(name)(x, a); \
    *dy = (slope)*dx + (da == 0 ? 0 : (slope_a)*da); \
    return y; \
  } \
  void G(name##_rev)(double x, double *dx, double a, double *da, double dy) { \
    double y = G(name)(x, a); \
    (void)y; \
    *dx += (slope)*dy; \
    *da += (slope_a)*dy; \
  } \
  FFGRAD_DERIVATIVES(ffgrad_gsl_##name, ffgrad_gsl_##name##_fwd, ffgrad_gsl_##name##_rev);
#define OF_THREE(name, slope, slope_a, slope_b) \
  extern double gsl_##name(double, double, double); \
  double G(name)(double x, double a, double b) { return gsl_##name(x, a, b); } \
  double G(name##_fwd)(double x, double dx, double a, double da, double b, double db, double *dy) { \
    double y = G(name)(x, a, b); \
    *dy = (slope)*dx + (da == 0 ? 0 : (slope_a)*da) + (db == 0 ? 0 : (slope_b)*db); \
    return y; \
  } \
  void G(name##_rev)(double x, double *dx, double a, double *da, double b, double *db, double dy) { \
    double y = G(name)(x, a, b); \
    (void)y; \
    *dx += (slope)*dy; \
    *da += (slope_a)*dy; \
    *db += (slope_b)*dy; \
  } \
  FFGRAD_DERIVATIVES(ffgrad_gsl_##name, ffgrad_gsl_##name##_fwd, ffgrad_gsl_##name##_rev);

OF_ONE(cdf_ugaussian_Pinv, 1 / G(ran_ugaussian_pdf)(y))
OF_ONE(cdf_ugaussian_Qinv, -1 / G(ran_ugaussian_pdf)(y))
double G(cdf_gaussian_Pinv)(double p, double s) { return s * G(cdf_ugaussian_Pinv)(p); }
double G(cdf_gaussian_Qinv)(double q, double s) { return s * G(cdf_ugaussian_Qinv)(q); }
double G(cdf_lognormal_Pinv)(double p, double zeta, double s) {
  return p == 1 ? INFINITY : p == 0 ? 0 : exp(zeta + s * G(cdf_ugaussian_Pinv)(p));
}
double G(cdf_lognormal_Qinv)(double q, double zeta, double s) {
  return q == 0 ? INFINITY : q == 1 ? 0 : exp(zeta + s * G(cdf_ugaussian_Qinv)(q));
}
double ffgrad_gsl_gamma_inc_slope(double a, double x);
OF_THREE(cdf_gamma_Pinv, 1 / G(ran_gamma_pdf)(y, a, b),
         -ffgrad_gsl_gamma_inc_slope(a, y / b) / G(ran_gamma_pdf)(y, a, b), y / b)
OF_THREE(cdf_gamma_Qinv, -1 / G(ran_gamma_pdf)(y, a, b),
         -ffgrad_gsl_gamma_inc_slope(a, y / b) / G(ran_gamma_pdf)(y, a, b), y / b)
double G(cdf_chisq_Pinv)(double p, double nu) { return G(cdf_gamma_Pinv)(p, 0.5 * nu, 2); }
double G(cdf_chisq_Qinv)(double q, double nu) { return G(cdf_gamma_Qinv)(q, 0.5 * nu, 2); }
OF_TWO(cdf_tdist_P, G(ran_tdist_pdf)(x, a), unknown(x))
OF_TWO(cdf_tdist_Q, -G(ran_tdist_pdf)(x, a), unknown(x))
OF_TWO(cdf_tdist_Pinv, 1 / G(ran_tdist_pdf)(y, a), unknown(x))
OF_TWO(cdf_tdist_Qinv, -1 / G(ran_tdist_pdf)(y, a), unknown(x))
OF_THREE(cdf_fdist_P, G(ran_fdist_pdf)(x, a, b), unknown(x), unknown(x))
OF_THREE(cdf_fdist_Q, -G(ran_fdist_pdf)(x, a, b), unknown(x), unknown(x))
OF_THREE(cdf_fdist_Pinv, 1 / G(ran_fdist_pdf)(y, a, b), unknown(x), unknown(x))
OF_THREE(cdf_fdist_Qinv, -1 / G(ran_fdist_pdf)(y, a, b), unknown(x), unknown(x))
OF_THREE(cdf_beta_Pinv, 1 / G(ran_beta_pdf)(y, a, b), unknown(x), unknown(x))
OF_THREE(cdf_beta_Qinv, -1 / G(ran_beta_pdf)(y, a, b), unknown(x), unknown(x))
