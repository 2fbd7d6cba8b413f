// Log-likelihood of a series under a Kalman filter for position and velocity.
#include <Eigen/Dense>
#include <cmath>

namespace {
template <typename Derived>
Eigen::Matrix2d symmetrised(const Eigen::MatrixBase<Derived>& m) {
  return 0.5 * (m + m.transpose());
}
}  // namespace

double kalman_log_likelihood(const double* observed, const double* parameters, int n) {
  const double dt = 0.1, process = parameters[0], measurement = parameters[1];
  Eigen::Matrix2d transition;
  transition << 1.0, dt, -0.3 * dt, 1.0;
  Eigen::Matrix2d q = Eigen::Matrix2d::Identity() * process * dt;
  const Eigen::RowVector2d h(1.0, 0.0);
  Eigen::Vector2d state = Eigen::Vector2d::Zero();
  Eigen::Matrix2d covariance = Eigen::Matrix2d::Identity();
  double likelihood = 0.0;
  for (int i = 0; i < n; ++i) {
    state = transition * state;
    covariance = symmetrised(transition * covariance * transition.transpose() + q);
    const double innovation = observed[i] - h * state;
    const double variance = (h * covariance * h.transpose())(0, 0) + measurement * measurement;
    const Eigen::Vector2d gain = covariance * h.transpose() / variance;
    state += gain * innovation;
    covariance = (Eigen::Matrix2d::Identity() - gain * h) * covariance;
    likelihood -= 0.5 * (innovation * innovation / variance + std::log(2.0 * M_PI * variance));
  }
  return likelihood;
}
