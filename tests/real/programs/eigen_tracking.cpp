// A Kalman filter with matrices of any size: products, an inverse, a determinant and LDLT of Eigen in one step.
#include <Eigen/Dense>
#include <vector>
#include <cmath>
class Kalman { Eigen::MatrixXd F, H, Q, R, P; Eigen::VectorXd x; public:
  Kalman(double q, double r) : F(2, 2), H(1, 2), Q(2, 2), R(1, 1), P(Eigen::MatrixXd::Identity(2, 2)), x(Eigen::VectorXd::Zero(2)) { double dt = 0.3; F << 1, dt, 0, 1; H << 1, 0; Q << dt * dt * dt / 3, dt * dt / 2, dt * dt / 2, dt; Q *= q; R << r; }
  double step(const Eigen::VectorXd& z) {
    x = F * x; P = F * P * F.transpose() + Q;
    Eigen::VectorXd y = z - H * x; Eigen::MatrixXd S = H * P * H.transpose() + R; Eigen::MatrixXd K = P * H.transpose() * S.inverse();
    x += K * y; Eigen::MatrixXd I = Eigen::MatrixXd::Identity(2, 2); P = (I - K * H) * P * (I - K * H).transpose() + K * R * K.transpose();
    return 0.5 * (y.dot(S.ldlt().solve(y)) + std::log(S.determinant()) + std::log(2 * M_PI)); } };
double tracking_likelihood(double q, double r, const double* z, int n) { Kalman k(q, r); double s = 0; for (int i = 0; i < n; ++i) { Eigen::VectorXd v(1); v << z[i]; s += k.step(v); } return s; }
