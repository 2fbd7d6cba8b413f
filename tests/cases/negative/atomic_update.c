// Exchanges the bits of numbers atomically: only atomic addition has a derivative.
void swap_in(const double* x, int n, double* y) {
  for (int i = 0; i < n; i++) {
    y[i] = x[i] * x[i];
    __atomic_exchange_n((long*)(y + i), *(const long*)(x + i), __ATOMIC_SEQ_CST);
  }
}
