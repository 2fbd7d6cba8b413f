// What a user of Enzyme alone writes.
#include "../../../examples/gmm/gmm.cpp"

extern int enzyme_dup, enzyme_const;
extern "C" double __enzyme_autodiff(void*, ...);

extern "C" void gradient(const double* alphas, const double* means, const double* icf, const double* x, int d, int k, int n,
                         double gamma, int m, double* dalphas, double* dmeans, double* dicf) {
  std::fill(dalphas, dalphas + k, 0.0);
  std::fill(dmeans, dmeans + k * d, 0.0);
  std::fill(dicf, dicf + k * (d * (d + 1) / 2), 0.0);
  __enzyme_autodiff((void*)gmm_objective, enzyme_dup, alphas, dalphas, enzyme_dup, means, dmeans, enzyme_dup, icf, dicf,
                    enzyme_const, x, enzyme_const, d, enzyme_const, k, enzyme_const, n, enzyme_const, gamma, enzyme_const, m);
}
