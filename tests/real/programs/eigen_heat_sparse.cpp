// Temperatures in a rod of varying conductivity: a sparse matrix from triplets, solved by conjugate gradients.
#include <Eigen/Sparse>
#include <Eigen/IterativeLinearSolvers>
#include <vector>

void temperatures(const double* conductivity, const double* source, double* temperature, int n) {
  std::vector<Eigen::Triplet<double>> entries;
  entries.reserve(4 * n);
  for (int i = 0; i < n; ++i) {
    entries.emplace_back(i, i, conductivity[i]);
    if (i + 1 < n) {
      const double between = 2.0 / (1.0 / conductivity[i] + 1.0 / conductivity[i + 1]);
      entries.emplace_back(i, i, between);
      entries.emplace_back(i + 1, i + 1, between);
      entries.emplace_back(i, i + 1, -between);
      entries.emplace_back(i + 1, i, -between);
    }
  }
  Eigen::SparseMatrix<double> a(n, n);
  a.setFromTriplets(entries.begin(), entries.end());
  Eigen::ConjugateGradient<Eigen::SparseMatrix<double>, Eigen::Lower | Eigen::Upper> solver;
  solver.setTolerance(1e-14);
  solver.compute(a);
  Eigen::VectorXd::Map(temperature, n) = solver.solve(Eigen::VectorXd::Map(source, n));
}
