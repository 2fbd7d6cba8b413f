// Energy of a cluster of atoms with a cut-off, in expressions of Eigen's arrays.
#include <Eigen/Core>

double cluster_energy(const double* positions, int n) {
  Eigen::Map<const Eigen::Array<double, Eigen::Dynamic, 3, Eigen::RowMajor>> r(positions, n, 3);
  double energy = 0.0;
  for (int i = 0; i + 1 < n; ++i) {
    const Eigen::ArrayXd d2 = (r.bottomRows(n - 1 - i).rowwise() - r.row(i)).square().rowwise().sum();
    const Eigen::ArrayXd s6 = d2.cube().inverse();
    energy += (d2 < 9.0).select(4.0 * (s6.square() - s6), 0.0).sum();
  }
  return energy;
}
