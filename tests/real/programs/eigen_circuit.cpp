// Node voltages of a resistor network, by Eigen's LU decomposition with partial pivoting.
#include <Eigen/Dense>

void node_voltages(const double* conductance, const double* current, double* voltage, int n) {
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::Map<const Matrix> g(conductance, n, n);
  Matrix laplacian = -(g + g.transpose());
  for (int i = 0; i < n; ++i) {
    laplacian(i, i) = 0.0;
    laplacian(i, i) = -laplacian.row(i).sum() + 0.1;
  }
  const Eigen::Map<const Eigen::VectorXd> injected(current, n);
  Eigen::Map<Eigen::VectorXd>(voltage, n) = laplacian.partialPivLu().solve(injected);
}
