// A circular convolution by FFTW's real transforms: two r2c plans and one c2r.
#include <complex>
#include <fftw3.h>
#include <vector>

void convolve(const double* signal, const double* kernel, double* result, int n) {
  std::vector<double> real(n);
  std::vector<std::complex<double>> a(n / 2 + 1), b(n / 2 + 1);
  fftw_plan forward = fftw_plan_dft_r2c_1d(n, real.data(), reinterpret_cast<fftw_complex*>(a.data()), FFTW_ESTIMATE);
  for (int i = 0; i < n; ++i) real[i] = signal[i];
  fftw_execute(forward);
  for (int i = 0; i < n; ++i) real[i] = kernel[i];
  fftw_execute_dft_r2c(forward, real.data(), reinterpret_cast<fftw_complex*>(b.data()));
  for (std::size_t k = 0; k < a.size(); ++k) a[k] *= b[k] / double(n);
  fftw_plan backward = fftw_plan_dft_c2r_1d(n, reinterpret_cast<fftw_complex*>(a.data()), real.data(), FFTW_ESTIMATE);
  fftw_execute(backward);
  for (int i = 0; i < n; ++i) result[i] = real[i];
  fftw_destroy_plan(forward);
  fftw_destroy_plan(backward);
}
