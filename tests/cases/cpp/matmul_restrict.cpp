// Three dimensions and restrict-qualified pointers, 64-bit sizes.
#include <cstdint>

extern "C" void matmul(const double* __restrict A, const double* __restrict B, std::int64_t m, std::int64_t k,
                       std::int64_t n, double* __restrict C) {
  for (std::int64_t i = 0; i < m * n; i++) C[i] = 0.0;
  for (std::int64_t i = 0; i < m; i++)
    for (std::int64_t p = 0; p < k; p++)
      for (std::int64_t j = 0; j < n; j++) C[i * n + j] += A[i * k + p] * B[p * n + j];
}
