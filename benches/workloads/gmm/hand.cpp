// By hand, as in textbooks. With responsibilities r[p,j] = softmax_j(component[p,j]), the likelihood's gradient is
//   alphas: sum_p r;  means: sum_p r Q^T Q (x - mean);  log-diagonal: sum_p r (1 - (Q(x - mean)) exp(q) (x - mean));
//   below the diagonal: -sum_p r Q(x - mean) (x - mean)^T; the prior and the normalisation of the weights on top.
#include "../../../examples/gmm/gmm.cpp"

extern "C" double primal(const double* alphas, const double* means, const double* icf, const double* x, int d, int k, int n,
                         double gamma, int m) {
  return gmm_objective(alphas, means, icf, x, d, k, n, gamma, m);
}

extern "C" void gradient(const double* __restrict alphas, const double* __restrict means, const double* __restrict icf,
                         const double* __restrict x, int d, int k, int n, double gamma, int m, double* __restrict dalphas,
                         double* __restrict dmeans, double* __restrict dicf) {
  const int size = d * (d + 1) / 2;
  std::vector<double> diagonal(k * d), log_det(k, 0.0);
  for (int j = 0; j < k; j++)
    for (int i = 0; i < d; i++) {
      log_det[j] += icf[j * size + i];
      diagonal[j * d + i] = std::exp(icf[j * size + i]);
    }

  std::fill(dalphas, dalphas + k, 0.0);
  std::fill(dmeans, dmeans + k * d, 0.0);
  std::fill(dicf, dicf + k * size, 0.0);
  std::vector<double> all_centred(k * d), all_scaled(k * d), component(k);
  for (int p = 0; p < n; p++) {
    double top = -INFINITY;
    for (int j = 0; j < k; j++) {
      double* __restrict centred = &all_centred[j * d];
      double* __restrict scaled = &all_scaled[j * d];
      for (int i = 0; i < d; i++) centred[i] = x[p * d + i] - means[j * d + i];
      for (int i = 0; i < d; i++) scaled[i] = diagonal[j * d + i] * centred[i];
      const double* __restrict below = icf + j * size + d;
      for (int c = 0; c < d; c++) {
        for (int r = c + 1; r < d; r++) scaled[r] += below[r - c - 1] * centred[c];
        below += d - c - 1;
      }
      double square = 0.0;
      for (int i = 0; i < d; i++) square += scaled[i] * scaled[i];
      component[j] = alphas[j] + log_det[j] - 0.5 * square;
      top = std::max(top, component[j]);
    }
    double sum = 0.0;
    for (int j = 0; j < k; j++) sum += component[j] = std::exp(component[j] - top);

    for (int j = 0; j < k; j++) {
      const double r = component[j] / sum;
      const double* __restrict centred = &all_centred[j * d];
      const double* __restrict scaled = &all_scaled[j * d];
      double* __restrict dmean = dmeans + j * d;
      double* __restrict dq = dicf + j * size;
      dalphas[j] += r;
      for (int i = 0; i < d; i++) {
        dmean[i] += r * diagonal[j * d + i] * scaled[i];
        dq[i] += r * (1.0 - diagonal[j * d + i] * centred[i] * scaled[i]);
      }
      const double* __restrict below = icf + j * size + d;
      double* __restrict dbelow = dq + d;
      for (int c = 0; c < d; c++) {
        const double rc = r * centred[c];
        double pulled = 0.0;
        for (int s = c + 1; s < d; s++) {
          dbelow[s - c - 1] -= rc * scaled[s];
          pulled += below[s - c - 1] * scaled[s];
        }
        dmean[c] += r * pulled;
        below += d - c - 1;
        dbelow += d - c - 1;
      }
    }
  }

  const double normaliser = log_sum_exp(std::vector<double>(alphas, alphas + k));
  for (int j = 0; j < k; j++) {
    dalphas[j] -= n * std::exp(alphas[j] - normaliser);
    for (int i = 0; i < d; i++) {
      const double q = diagonal[j * d + i];
      dicf[j * size + i] += gamma * gamma * q * q - m;
    }
    for (int i = d; i < size; i++) dicf[j * size + i] += gamma * gamma * icf[j * size + i];
  }
}
