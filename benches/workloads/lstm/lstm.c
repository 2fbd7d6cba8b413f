// An LSTM language model as ADBench has it (diagonal gates): the mean log-likelihood of the next character, negative.
//
// weights[2l,4b]: of each layer first four rows of weights, then four of biases (forget, input, output gate, candidate), as
// one row of 4b each; output[3,b]: weights of the input, weights and biases of the prediction; state[2l,b]: hidden and cell of each
// layer at the start; sequence[c,b].
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double sigmoid(double v) { return 1.0 / (1.0 + exp(-v)); }

// One layer, one step; hidden and cell are updated in place.
static void cell_step(int b, const double* weight, const double* bias, const double* input, double* hidden, double* cell) {
  for (int i = 0; i < b; i++) {
    const double forget = sigmoid(input[i] * weight[i] + bias[i]);
    const double ingate = sigmoid(hidden[i] * weight[b + i] + bias[b + i]);
    const double outgate = sigmoid(input[i] * weight[2 * b + i] + bias[2 * b + i]);
    const double change = tanh(hidden[i] * weight[3 * b + i] + bias[3 * b + i]);
    cell[i] = cell[i] * forget + ingate * change;
    hidden[i] = outgate * tanh(cell[i]);
  }
}

double lstm(const double* weights, const double* output, const double* state, const double* sequence, int l, int c, int b) {
  double* s = malloc(2 * l * b * sizeof(double));
  double* x = malloc(b * sizeof(double));
  double* predicted = malloc(b * sizeof(double));
  memcpy(s, state, 2 * l * b * sizeof(double));

  double total = 0.0;
  for (int t = 0; t + 1 < c; t++) {
    const double* gold = sequence + (t + 1) * b;
    for (int i = 0; i < b; i++) x[i] = sequence[t * b + i] * output[i];
    const double* input = x;
    for (int k = 0; k < l; k++) {
      cell_step(b, weights + 8 * k * b, weights + (8 * k + 4) * b, input, s + 2 * k * b, s + (2 * k + 1) * b);
      input = s + 2 * k * b;
    }
    double sum = 2.0;  // ADBench's normalisation
    for (int i = 0; i < b; i++) {
      predicted[i] = input[i] * output[b + i] + output[2 * b + i];
      sum += exp(predicted[i]);
    }
    const double normaliser = log(sum);
    for (int i = 0; i < b; i++) total += gold[i] * (predicted[i] - normaliser);
  }
  free(predicted);
  free(x);
  free(s);
  return -total / ((c - 1) * b);
}
