// Functions with Eigen's vectors, matrices and views as parameters and results, called by adapters.
#include <Eigen/Cholesky>
#include <vector>

double mahalanobis(const Eigen::VectorXd& x, const Eigen::VectorXd& mean, const Eigen::MatrixXd& covariance) {
  const Eigen::VectorXd d = x - mean;
  return d.dot(covariance.ldlt().solve(d));
}

// Not symmetric: rows and columns must not be exchanged.
Eigen::VectorXd product(const Eigen::MatrixXd& a, const Eigen::VectorXd& x) { return a * x; }

Eigen::MatrixXd outer(const Eigen::Ref<const Eigen::VectorXd>& a, Eigen::Map<const Eigen::VectorXd> b) {
  return a * b.transpose();
}

void scaled(const Eigen::Ref<const Eigen::MatrixXd>& a, Eigen::Ref<Eigen::MatrixXd> b, Eigen::VectorXd& sums) {
  for (int j = 0; j < a.cols(); ++j) b.col(j) = (j + 1) * a.col(j).array().square();
  sums = b.rowwise().sum();
}

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

void doubled(Eigen::Map<Rows> a) { a.row(0) *= 2; }

Eigen::Vector3d rotated(const Eigen::Matrix3d& r, const Eigen::Vector3d& v) { return r * v; }

double weighted(const Eigen::Matrix<double, Eigen::Dynamic, 2>& points, const Eigen::ArrayXd& w) {
  return (points.col(0).array() * w + points.col(1).array().square()).sum();
}

double path_length(const std::vector<Eigen::Vector2d>& points, const std::vector<Eigen::VectorXd>& weights) {
  double sum = 0;
  for (std::size_t i = 1; i < points.size(); ++i) sum += (points[i] - points[i - 1]).norm() * weights[i].sum();
  return sum;
}

struct Layer {
  Eigen::MatrixXd weights;
  Eigen::VectorXd bias;
};

Eigen::VectorXd layer(const Layer& l, const Eigen::VectorXd& x) {
  return (l.weights * x + l.bias).array().tanh();
}
