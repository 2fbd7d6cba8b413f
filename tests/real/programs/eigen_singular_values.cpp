// Schatten norm of a matrix, from the singular values of Eigen's JacobiSVD.
#include <Eigen/SVD>

double schatten_norm(const double* a, int m, int n) {
  const Eigen::MatrixXd matrix =
      Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(a, m, n);
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(matrix);
  return std::pow(svd.singularValues().array().cube().sum(), 1.0 / 3.0);
}
