/* Miller's algorithm: a recurrence that is run backward from the smallest numbers and divided by its sum. The square of the sum underflows. */
#include <float.h>

void backward_recurrence(double x, double scale, double *j) {
  double above = 0, here = DBL_MIN / DBL_EPSILON, sum = 0;
  for (int k = 24; k > 0; k--) {
    double below = 2 * k / x * here - above;
    above = here;
    here = below;
    if (k < 4) j[k] = above;
    if (k % 2 == 1) sum += k == 1 ? here : 2 * here;
  }
  j[0] = here;
  for (int k = 0; k < 4; k++) j[k] = j[k] * (scale / sum);
}
