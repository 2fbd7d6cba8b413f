// Push and pop on an array, depending on values: the top is read, and overwritten in a later iteration.
#include <math.h>
void push_and_pop(const double *x, int n, double *y) {
  double s[32] = {1};
  int top = 1;
  for (int i = 0; i < n; i++) {
    if (x[i] > 0 || top < 2) {
      s[top] = x[i] * s[top - 1] + 0.3;
      top++;
    } else {
      double a = s[--top];
      s[top - 1] = sin(s[top - 1]) * a + x[i];
    }
    y[i] = s[top - 1];
  }
}
