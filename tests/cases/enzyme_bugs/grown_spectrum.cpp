// A vector of complex numbers that grows, and a local array of them: loops that store two zeros in each element, of which LLVM makes a memset without a type.
// The factors of the length are structures without numbers, moved when their vector grows, as FFT libraries keep them (pocketfft, kissfft).
#include <complex>
#include <cstddef>
#include <vector>

namespace {

using Complex = std::complex<double>;

struct Factor {
  std::size_t length;
  const Complex *twiddles, *scratch;
};

class Transform {
 public:
  explicit Transform(std::size_t n) : n(n) {
    twiddles_.resize(n);
    for (std::size_t k = 0; k < n; k++) twiddles_[k] = std::polar(1.0, -2 * M_PI * k / n);
    for (std::size_t p = 2, left = n; left > 1; p++) {
      for (; left % p == 0; left /= p) factors_.push_back({p, nullptr, nullptr});
    }
    for (Factor &f : factors_) f.twiddles = twiddles_.data();
  }

  void operator()(const Complex *in, Complex *out) const { work(out, in, 1, 0); }

 private:
  // Decimation in time: one factor after the other.
  void work(Complex *out, const Complex *in, std::size_t stride, std::size_t stage) const {
    if (stage == factors_.size()) {
      *out = *in;
      return;
    }
    const std::size_t p = factors_[stage].length, m = n / stride / p;
    for (std::size_t q = 0; q < p; q++) work(out + q * m, in + q * stride, stride * p, stage + 1);
    Complex scratch[7];
    for (std::size_t k = 0; k < m; k++) {
      for (std::size_t q = 0; q < p; q++) scratch[q] = out[k + q * m];
      for (std::size_t r = 0; r < p; r++) {
        Complex sum = scratch[0];
        for (std::size_t q = 1; q < p; q++) sum += scratch[q] * factors_[stage].twiddles[stride * q * (k + r * m) % n];
        out[k + r * m] = sum;
      }
    }
  }

  std::size_t n;
  std::vector<Complex> twiddles_;
  std::vector<Factor> factors_;
};

}  // namespace

/// The power spectrum of a signal, by a mixed-radix transform, and its centre.
double grown_spectrum(const std::vector<double> &signal, std::vector<double> &power) {
  const std::size_t n = signal.size();
  std::vector<Complex> in(n), out;
  out.resize(n);
  for (std::size_t i = 0; i < n; i++) in[i] = signal[i];
  const Transform transform(n);
  transform(in.data(), out.data());
  double moment = 0, total = 0;
  for (std::size_t k = 0; k < n; k++) {
    power[k] = std::norm(out[k]);
    moment += (k + 1) * power[k];
    total += power[k];
  }
  return moment / total;
}
