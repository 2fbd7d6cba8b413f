// Two overloads: the plain name "f" is not enough.
namespace ns {
void f(const double* x, int n, double* y) {
  for (int i = 0; i < n; i++) y[i] = x[i] * x[i];
}
void f(const float* x, int n, float* y) {
  for (int i = 0; i < n; i++) y[i] = x[i] * x[i];
}
}  // namespace ns
