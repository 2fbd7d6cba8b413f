// By hand: back-propagation through time. Forward, the gates and cells of every step are kept; backward, the adjoints of hidden and
// cell go from step to step, and those of the input from layer to layer.
#include "lstm.c"

double primal(const double* weights, const double* output, const double* state, const double* sequence, int l, int c, int b) {
  return lstm(weights, output, state, sequence, l, c, b);
}

enum { FORGET, INGATE, OUTGATE, CHANGE, BEFORE, CELL, HIDDEN, INPUT, KEPT };  // BEFORE, HIDDEN: before the step; CELL: tanh after

void gradient(const double* restrict weights, const double* restrict output, const double* restrict state,
              const double* restrict sequence, int l, int c, int b, double* restrict dweights, double* restrict doutput) {
  const size_t layer = (size_t)KEPT * b, step = (size_t)l * layer;
  double* kept = malloc((c - 1) * step * sizeof(double));
  double* likelihood = malloc((size_t)(c - 1) * b * sizeof(double));  // derivatives with respect to the predictions
  double* s = malloc(2 * l * b * sizeof(double));
  double* ds = calloc(2 * l * b, sizeof(double));
  double* dx = malloc(b * sizeof(double));
  memcpy(s, state, 2 * l * b * sizeof(double));
  memset(dweights, 0, 8 * l * b * sizeof(double));
  memset(doutput, 0, 3 * b * sizeof(double));
  const double scale = -1.0 / ((c - 1) * b);

  for (int t = 0; t + 1 < c; t++) {
    for (int k = 0; k < l; k++) {
      double* restrict q = kept + t * step + k * layer;
      const double *w = weights + 8 * k * b, *bias = w + 4 * b;
      double *hidden = s + 2 * k * b, *cell = hidden + b;
      for (int i = 0; i < b; i++) {
        const double input = k == 0 ? sequence[t * b + i] * output[i] : s[2 * (k - 1) * b + i];
        const double forget = sigmoid(input * w[i] + bias[i]);
        const double ingate = sigmoid(hidden[i] * w[b + i] + bias[b + i]);
        const double outgate = sigmoid(input * w[2 * b + i] + bias[2 * b + i]);
        const double change = tanh(hidden[i] * w[3 * b + i] + bias[3 * b + i]);
        q[FORGET * b + i] = forget;
        q[INGATE * b + i] = ingate;
        q[OUTGATE * b + i] = outgate;
        q[CHANGE * b + i] = change;
        q[BEFORE * b + i] = cell[i];
        q[HIDDEN * b + i] = hidden[i];
        q[INPUT * b + i] = input;
        cell[i] = cell[i] * forget + ingate * change;
        q[CELL * b + i] = tanh(cell[i]);
        hidden[i] = outgate * q[CELL * b + i];
      }
    }
    const double *last = s + 2 * (l - 1) * b, *gold = sequence + (t + 1) * b;
    double* p = likelihood + (size_t)t * b;
    double sum = 2.0, weight = 0.0;
    for (int i = 0; i < b; i++) {
      p[i] = exp(last[i] * output[b + i] + output[2 * b + i]);
      sum += p[i];
      weight += gold[i];
    }
    for (int i = 0; i < b; i++) {
      p[i] = scale * (gold[i] - weight * p[i] / sum);
      doutput[b + i] += p[i] * last[i];
      doutput[2 * b + i] += p[i];
    }
  }

  for (int t = c - 2; t >= 0; t--) {
    const double* p = likelihood + (size_t)t * b;
    for (int i = 0; i < b; i++) ds[2 * (l - 1) * b + i] += p[i] * output[b + i];
    for (int k = l - 1; k >= 0; k--) {
      const double* restrict q = kept + t * step + k * layer;
      const double* w = weights + 8 * k * b;
      double *dw = dweights + 8 * k * b, *dbias = dw + 4 * b;
      double *dhidden = ds + 2 * k * b, *dcell = dhidden + b;
      for (int i = 0; i < b; i++) {
        const double forget = q[FORGET * b + i], ingate = q[INGATE * b + i], outgate = q[OUTGATE * b + i];
        const double change = q[CHANGE * b + i], cell = q[CELL * b + i];
        const double input = q[INPUT * b + i], hidden = q[HIDDEN * b + i];
        const double d = dcell[i] + dhidden[i] * outgate * (1.0 - cell * cell);
        const double g_out = dhidden[i] * cell * outgate * (1.0 - outgate);
        const double g_forget = d * q[BEFORE * b + i] * forget * (1.0 - forget);
        const double g_in = d * change * ingate * (1.0 - ingate);
        const double g_change = d * ingate * (1.0 - change * change);
        dw[i] += g_forget * input;
        dw[b + i] += g_in * hidden;
        dw[2 * b + i] += g_out * input;
        dw[3 * b + i] += g_change * hidden;
        dbias[i] += g_forget;
        dbias[b + i] += g_in;
        dbias[2 * b + i] += g_out;
        dbias[3 * b + i] += g_change;
        dcell[i] = d * forget;
        dhidden[i] = g_in * w[b + i] + g_change * w[3 * b + i];
        dx[i] = g_forget * w[i] + g_out * w[2 * b + i];
      }
      // The input is the layer below, at this step, or the character itself.
      for (int i = 0; i < b; i++) {
        if (k > 0) ds[2 * (k - 1) * b + i] += dx[i];
        else doutput[i] += dx[i] * sequence[t * b + i];
      }
    }
  }
  free(dx);
  free(ds);
  free(s);
  free(likelihood);
  free(kept);
}
