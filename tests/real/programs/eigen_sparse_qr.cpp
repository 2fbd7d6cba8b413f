// Least squares of a sparse network by Eigen's SparseQR, whose ordering looks at the pattern of the matrix only.
#include <Eigen/OrderingMethods>
#include <Eigen/Sparse>
#include <Eigen/SparseQR>
#include <cmath>
#include <stdexcept>
#include <vector>

// Heights of the stations from measured differences, each with a weight; station 0 is held at `datum`.
std::vector<double> level(const std::vector<double>& differences, const std::vector<double>& weights, double datum) {
  const int n = 5, m = static_cast<int>(differences.size());
  std::vector<Eigen::Triplet<double>> entries{{0, 0, 1.0}};
  Eigen::VectorXd right = Eigen::VectorXd::Zero(m + 1);
  right[0] = datum;
  for (int k = 0; k < m; ++k) {
    const int from = k % n, to = (2 * k + 1) % n == from ? (from + 1) % n : (2 * k + 1) % n;
    const double root = std::sqrt(weights[k]);
    entries.emplace_back(k + 1, from, -root);
    entries.emplace_back(k + 1, to, root);
    right[k + 1] = root * differences[k];
  }
  Eigen::SparseMatrix<double> a(m + 1, n);
  a.setFromTriplets(entries.begin(), entries.end());
  a.makeCompressed();
  Eigen::SparseQR<Eigen::SparseMatrix<double>, Eigen::COLAMDOrdering<int>> qr(a);
  if (qr.info() != Eigen::Success) throw std::runtime_error("a network that hangs together is needed");
  const Eigen::VectorXd heights = qr.solve(right);
  return {heights.data(), heights.data() + n};
}
