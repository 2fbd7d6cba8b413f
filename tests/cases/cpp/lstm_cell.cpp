// An LSTM cell: dimension expressions in an input shape, two outputs, many inputs.
#include <cmath>
#include <vector>

static double sigmoid(double v) { return 1.0 / (1.0 + std::exp(-v)); }

// W: 4n rows (input, forget, output gate, candidate) of d + n columns.
extern "C" void lstm_cell(const double* x, const double* h, const double* c, const double* W, const double* b, int d,
                          int n, double* h_next, double* c_next) {
  std::vector<double> gate(4 * n);
  for (int i = 0; i < 4 * n; i++) {
    const double* row = W + i * (d + n);
    double s = b[i];
    for (int j = 0; j < d; j++) s += row[j] * x[j];
    for (int j = 0; j < n; j++) s += row[d + j] * h[j];
    gate[i] = i < 3 * n ? sigmoid(s) : std::tanh(s);
  }
  for (int i = 0; i < n; i++) {
    c_next[i] = gate[n + i] * c[i] + gate[i] * gate[3 * n + i];
    h_next[i] = gate[2 * n + i] * std::tanh(c_next[i]);
  }
}
