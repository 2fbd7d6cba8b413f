// Log marginal likelihood of a Gaussian process, by Eigen's Cholesky factorisation.
#include <Eigen/Dense>
#include <cmath>

double gp_log_likelihood(const double* x, const double* y, const double* theta, int n) {
  const double amplitude = theta[0], length = theta[1], noise = theta[2];
  Eigen::MatrixXd k(n, n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const double r = (x[i] - x[j]) / length;
      k(i, j) = amplitude * amplitude * std::exp(-0.5 * r * r);
    }
  k.diagonal().array() += noise * noise;
  Eigen::LLT<Eigen::MatrixXd> llt(k);
  const Eigen::Map<const Eigen::VectorXd> target(y, n);
  const Eigen::VectorXd alpha = llt.solve(target);
  const Eigen::MatrixXd factor = llt.matrixL();
  const double log_determinant = 2.0 * factor.diagonal().array().log().sum();
  return -0.5 * target.dot(alpha) - 0.5 * log_determinant - 0.5 * n * std::log(2.0 * M_PI);
}
