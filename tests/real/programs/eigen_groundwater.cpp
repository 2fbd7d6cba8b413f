// Groundwater heads on a grid of conductivities: sparse direct solvers, whose permutations and factors grow by realloc.

#include <Eigen/Sparse>
#include <vector>

namespace {

using Sparse = Eigen::SparseMatrix<double>;

Sparse assemble(const double *conductivity, int n) {
  std::vector<Eigen::Triplet<double>> entries;
  for (int i = 0; i < n; ++i) {
    const double west = conductivity[i], east = i + 1 < n ? conductivity[i + 1] : 1.0;
    entries.emplace_back(i, i, west + east + 0.1);
    if (i > 0) entries.emplace_back(i, i - 1, -west);
    if (i + 1 < n) entries.emplace_back(i, i + 1, -east);
  }
  Sparse matrix(n, n);
  matrix.setFromTriplets(entries.begin(), entries.end());
  return matrix;
}

} // namespace

void groundwater_heads(const double *conductivity, int n, double *heads) {
  const Sparse matrix = assemble(conductivity, n);
  Eigen::VectorXd recharge(n);
  for (int i = 0; i < n; ++i) recharge[i] = 0.5 + conductivity[i] * conductivity[i];
  Eigen::SimplicialLDLT<Sparse> solver(matrix);
  const Eigen::VectorXd solution = solver.solve(recharge);
  Eigen::Map<Eigen::VectorXd>(heads, n) = solution;
}
