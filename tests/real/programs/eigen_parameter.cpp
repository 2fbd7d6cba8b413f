// A function whose parameters are Eigen's matrices, as most code with Eigen has them.
#include <Eigen/Dense>

double mahalanobis(const Eigen::VectorXd& x, const Eigen::VectorXd& mean, const Eigen::MatrixXd& covariance) {
  const Eigen::VectorXd d = x - mean;
  return d.dot(covariance.ldlt().solve(d));
}
