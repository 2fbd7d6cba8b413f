// Log-likelihood of a Gaussian mixture plus a Wishart prior on the precisions: the objective of
// ADBench, its signs included (Srajer, Kukelova, Fitzgibbon, "A benchmark of selected algorithmic differentiation
// tools for automatic differentiation", 2016).
//
// Shapes, row-major:  alphas[k]  means[k,d]  icf[k, d + d(d-1)/2]  x[n,d]
// The prior's quadratic term is added, as in ADBench; for maximising it is subtracted (fit_wine.py).
// A row of icf is the lower triangular factor Q of one precision matrix, Q^T Q: first the
// logarithms of its diagonal, then the entries below the diagonal, column by column.

#include <algorithm>
#include <cmath>
#include <vector>

namespace {

const double PI = 3.14159265358979323846;

double log_sum_exp(const std::vector<double>& v) {
  double top = v[0];
  for (double e : v) top = std::max(top, e);
  double sum = 0.0;
  for (double e : v) sum += std::exp(e - top);
  return top + std::log(sum);
}

// Logarithm of the multivariate gamma function of dimension d.
double log_gamma_multivariate(double a, int d) {
  double out = 0.25 * d * (d - 1) * std::log(PI);
  for (int j = 1; j <= d; j++) out += std::lgamma(a + 0.5 * (1 - j));
  return out;
}

double log_wishart_prior(const double* icf, const std::vector<double>& log_det, int d, int k, double gamma, int m) {
  const int size = d * (d + 1) / 2;
  const int dof = d + m + 1;
  const double constant = dof * d * (std::log(gamma) - 0.5 * std::log(2.0)) - log_gamma_multivariate(0.5 * dof, d);

  double out = 0.0;
  for (int j = 0; j < k; j++) {
    const double* q = icf + j * size;
    double frobenius = 0.0;
    for (int i = 0; i < d; i++) frobenius += std::exp(q[i]) * std::exp(q[i]);
    for (int i = d; i < size; i++) frobenius += q[i] * q[i];
    out += 0.5 * gamma * gamma * frobenius - m * log_det[j];
  }
  return out - k * constant;
}

}  // namespace

extern "C" double gmm_objective(const double* alphas, const double* means, const double* icf, const double* x, int d,
                                int k, int n, double gamma, int m) {
  const int size = d * (d + 1) / 2;

  std::vector<double> log_det(k, 0.0);  // log |Q_j|
  std::vector<double> diagonal(k * d);  // the diagonals of all Q_j
  for (int j = 0; j < k; j++)
    for (int i = 0; i < d; i++) {
      log_det[j] += icf[j * size + i];
      diagonal[j * d + i] = std::exp(icf[j * size + i]);
    }

  double likelihood = 0.0;
  std::vector<double> centred(d), scaled(d), component(k);
  for (int p = 0; p < n; p++) {
    for (int j = 0; j < k; j++) {
      for (int i = 0; i < d; i++) centred[i] = x[p * d + i] - means[j * d + i];

      // scaled = Q_j * centred, one column of Q_j after the other
      for (int i = 0; i < d; i++) scaled[i] = diagonal[j * d + i] * centred[i];
      const double* below = icf + j * size + d;
      for (int c = 0; c < d; c++)
        for (int r = c + 1; r < d; r++) scaled[r] += *below++ * centred[c];

      double square = 0.0;
      for (double s : scaled) square += s * s;
      component[j] = alphas[j] + log_det[j] - 0.5 * square;
    }
    likelihood += log_sum_exp(component);
  }

  likelihood -= n * log_sum_exp(std::vector<double>(alphas, alphas + k));
  likelihood -= 0.5 * n * d * std::log(2.0 * PI);
  return likelihood + log_wishart_prior(icf, log_det, d, k, gamma, m);
}
