// Spectral entropy of a windowed signal, by a complex transform of FFTW in place.
#include <cmath>
#include <fftw3.h>

double spectral_entropy(const double* signal, int n) {
  fftw_complex* data = fftw_alloc_complex(n);
  fftw_plan plan = fftw_plan_dft_1d(n, data, data, FFTW_FORWARD, FFTW_ESTIMATE);
  for (int i = 0; i < n; ++i) {
    data[i][0] = signal[i] * std::sin(M_PI * (i + 0.5) / n);
    data[i][1] = 0.0;
  }
  fftw_execute(plan);
  double total = 0.0, entropy = 0.0;
  for (int k = 0; k < n; ++k) total += data[k][0] * data[k][0] + data[k][1] * data[k][1];
  for (int k = 0; k < n; ++k) {
    const double p = (data[k][0] * data[k][0] + data[k][1] * data[k][1]) / total;
    entropy -= p * std::log(p + 1e-6);
  }
  fftw_destroy_plan(plan);
  fftw_free(data);
  return entropy;
}
