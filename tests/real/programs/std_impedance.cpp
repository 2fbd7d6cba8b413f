// Frequency response of a filter: std::complex functions and std::polar.
#include <cmath>
#include <complex>
#include <vector>

void response(const double* parts, const double* frequency, double* decibel, int n) {
  using namespace std::complex_literals;
  const double r = parts[0], l = parts[1], c = parts[2];
  for (int i = 0; i < n; ++i) {
    const std::complex<double> s = 1i * (2.0 * M_PI * frequency[i]);
    const std::complex<double> load = 1.0 / (s * c + 1.0 / (r + std::sqrt(s) * 0.01));
    const std::complex<double> gain = load / (load + s * l + r) * std::polar(1.0, 0.2 * frequency[i]);
    decibel[i] = 20.0 * std::log10(std::abs(gain)) + std::arg(gain);
  }
}
