// Eigenfrequencies of a chain of masses and springs, by Eigen's SelfAdjointEigenSolver.
#include <Eigen/Eigenvalues>
#include <stdexcept>

void frequencies(const double* stiffness, const double* mass, double* omega, int n) {
  Eigen::MatrixXd k = Eigen::MatrixXd::Zero(n, n);
  for (int i = 0; i < n; ++i) {
    k(i, i) += stiffness[i];
    if (i + 1 < n) {
      k(i, i) += stiffness[i + 1];
      k(i, i + 1) -= stiffness[i + 1];
      k(i + 1, i) -= stiffness[i + 1];
    }
  }
  const Eigen::VectorXd scale = Eigen::VectorXd::Map(mass, n).array().sqrt().inverse();
  const Eigen::MatrixXd dynamical = scale.asDiagonal() * k * scale.asDiagonal();
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(dynamical, Eigen::EigenvaluesOnly);
  if (solver.info() != Eigen::Success) throw std::runtime_error("the eigenvalues did not converge");
  Eigen::VectorXd::Map(omega, n) = solver.eigenvalues().cwiseSqrt();
}
