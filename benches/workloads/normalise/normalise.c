// y = x / sum(x), written as one would on a blackboard: the sum inside the loop. The compiler moves the call out and makes the
// loop O(n); differentiated before that, the gradient would stay O(n^2). (Inlined it would be a loop inside a loop, which
// compilers leave where it is: noinline stands for a function of a library.)
__attribute__((noinline)) static double total(const double* x, int n) {
  double sum = 0.0;
  for (int i = 0; i < n; i++) sum += x[i];
  return sum;
}

void normalise(const double* restrict x, int n, double* restrict y) {
  for (int i = 0; i < n; i++) y[i] = x[i] / total(x, n);
}
