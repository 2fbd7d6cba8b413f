// What ffgrad's loops stand for in Eigen, for matrices of either order: test_eigen_loops.py compares with NumPy.
#include <Eigen/Dense>
#include <Eigen/SparseLU>

template <typename Matrix>
void all(const double* a, const double* b, double* y, int n, int m) {
  using Given = Eigen::Map<const Eigen::Matrix<double, -1, -1, Eigen::RowMajor>>;
  const Matrix A = Given(a, n, n), B = Given(b, n, m);
  const Matrix S = A * A.transpose() + Matrix::Identity(n, n);
  const auto put = [&](const Matrix& result) {
    Eigen::Map<Eigen::Matrix<double, -1, -1, Eigen::RowMajor>>(y, n, m) = result;
    y += n * m;
  };
  Matrix C = 2.0 * (A.transpose() * B);
  C.noalias() -= 3.0 * A * B;
  C += A.transpose() * B.rowwise().reverse();
  put(C);
  put(S.llt().solve(B));
  put(A.partialPivLu().solve(B));
  put(A.householderQr().solve(B));
  put(A.template triangularView<Eigen::UnitLower>().solve(B));
  put(S.template triangularView<Eigen::Upper>().template solve<Eigen::OnTheRight>(B.transpose()).transpose());
  C.setZero();
  C.col(0) = A.template triangularView<Eigen::UnitUpper>().transpose().solve(B.col(0)) + S * B.col(m - 1);
  put(C);
  Eigen::SparseMatrix<double> sparse = Eigen::MatrixXd(S).sparseView();
  Eigen::SparseLU<Eigen::SparseMatrix<double>> lu(sparse);
  for (int j = 0; j < m; ++j) {
    const Eigen::VectorXd given = B.col(j), x = lu.solve(given);
    C.col(j) = x;
  }
  put(C);
}

void by_columns(const double* a, const double* b, double* y, int n, int m) { all<Eigen::MatrixXd>(a, b, y, n, m); }
void by_rows(const double* a, const double* b, double* y, int n, int m) {
  all<Eigen::Matrix<double, -1, -1, Eigen::RowMajor>>(a, b, y, n, m);
}
