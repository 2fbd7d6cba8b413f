// What a user of Enzyme alone writes.
#include "lstm.c"

extern int enzyme_dup, enzyme_const;
double __enzyme_autodiff(void*, ...);

void gradient(const double* weights, const double* output, const double* state, const double* sequence, int l, int c, int b,
              double* dweights, double* doutput) {
  memset(dweights, 0, 8 * l * b * sizeof(double));
  memset(doutput, 0, 3 * b * sizeof(double));
  __enzyme_autodiff((void*)lstm, enzyme_dup, weights, dweights, enzyme_dup, output, doutput, enzyme_const, state, enzyme_const,
                    sequence, enzyme_const, l, enzyme_const, c, enzyme_const, b);
}
