// Coefficients of a cubic fitted by least squares, by Eigen's Householder QR.
#include <Eigen/QR>

void polyfit(const double* t, const double* y, double* coefficients, int m) {
  constexpr int degree = 3;
  Eigen::MatrixXd vandermonde(m, degree + 1);
  for (int i = 0; i < m; ++i) {
    double power = 1.0;
    for (int k = 0; k <= degree; ++k) {
      vandermonde(i, k) = power;
      power *= t[i];
    }
  }
  const Eigen::VectorXd rhs = Eigen::VectorXd::Map(y, m);
  const Eigen::VectorXd solution = vandermonde.householderQr().solve(rhs);
  Eigen::VectorXd::Map(coefficients, degree + 1) = solution;
}
