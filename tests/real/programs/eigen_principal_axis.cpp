// Share of the variance along the main axis of a cloud of points: eigenvalues and vectors of a 3 by 3 matrix.
#include <Eigen/Dense>
#include <cmath>

double main_axis(const double* points, int n) {
  Eigen::Map<const Eigen::Matrix<double, 3, Eigen::Dynamic>> p(points, 3, n);
  const Eigen::Vector3d centre = p.rowwise().mean();
  const Eigen::Matrix<double, 3, Eigen::Dynamic> centred = p.colwise() - centre;
  const Eigen::Matrix3d covariance = centred * centred.transpose() / double(n - 1);
  Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> solver(covariance);
  const Eigen::Vector3d axis = solver.eigenvectors().col(2);
  const double share = solver.eigenvalues()(2) / covariance.trace();
  return share + 0.1 * std::pow(axis.dot(Eigen::Vector3d(1.0, 2.0, -1.0)), 2);
}
