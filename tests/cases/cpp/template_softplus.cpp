// A function template, instantiated by asking for "softplus<double>".
#include <cmath>
#include <cstddef>

template <typename T>
void softplus(const T* x, std::size_t n, T beta, T* y) {
  for (std::size_t i = 0; i < n; i++) y[i] = std::log(T(1) + std::exp(beta * x[i])) / beta;
}
