// A scalar return: log-sum-exp with the maximum taken out.
#include <math.h>

double log_sum_exp(const double* x, int n) {
  double top = x[0];
  for (int i = 1; i < n; i++)
    if (x[i] > top) top = x[i];
  double s = 0.0;
  for (int i = 0; i < n; i++) s += exp(x[i] - top);
  return top + log(s);
}
