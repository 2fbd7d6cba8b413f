// Inline assembly, at which Enzyme aborts; it must become an error that names the construct.
void square_root(const double* x, int n, double* y) {
  for (int i = 0; i < n; i++) {
    double r;
#if defined(__x86_64__)
    __asm__("sqrtsd %1, %0" : "=x"(r) : "x"(x[i]));
#else
    __asm__("fsqrt %d0, %d1" : "=w"(r) : "w"(x[i]));
#endif
    y[i] = r * x[i];
  }
}
