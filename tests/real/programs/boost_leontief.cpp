// Output of an economy that meets a demand, by uBLAS's LU factorisation.
#include <boost/numeric/ublas/io.hpp>
#include <boost/numeric/ublas/lu.hpp>
#include <boost/numeric/ublas/matrix.hpp>
#include <boost/numeric/ublas/vector.hpp>
#include <stdexcept>

namespace ublas = boost::numeric::ublas;

double total_output(const double* inputs, const double* demand, int n) {
  ublas::matrix<double> a = ublas::identity_matrix<double>(n);
  ublas::vector<double> x(n);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) a(i, j) -= inputs[i * n + j];
    x(i) = demand[i];
  }
  ublas::permutation_matrix<std::size_t> pivots(n);
  if (ublas::lu_factorize(a, pivots) != 0) throw std::domain_error("the matrix is singular");
  ublas::lu_substitute(a, pivots, x);
  return ublas::sum(ublas::element_prod(x, x));
}
