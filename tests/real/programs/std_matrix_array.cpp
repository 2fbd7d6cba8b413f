// Transmission of light through layers: products of 2 by 2 complex matrices in std::array, and std::complex.
#include <array>
#include <cmath>
#include <complex>

using Complex = std::complex<double>;
using Matrix = std::array<std::array<Complex, 2>, 2>;

static Matrix operator*(const Matrix& a, const Matrix& b) {
  Matrix c{};
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 2; ++j)
      for (std::size_t k = 0; k < 2; ++k) c[i][j] += a[i][k] * b[k][j];
  return c;
}

double reflectance(const double* index, const double* thickness, int layers) {
  Matrix whole{{{1.0, 0.0}, {0.0, 1.0}}};
  for (int i = 0; i < layers; ++i) {
    const double phase = 2.0 * M_PI * index[i] * thickness[i];
    const Complex off(0.0, std::sin(phase));
    const Matrix layer{{{std::cos(phase), off / index[i]}, {off * index[i], std::cos(phase)}}};
    whole = whole * layer;
  }
  const Complex b = whole[0][0] + whole[0][1] * 1.5, c = whole[1][0] + whole[1][1] * 1.5;
  return std::norm((b - c) / (b + c));
}
