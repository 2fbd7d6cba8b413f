// Single precision throughout, returned as a float.
#include <math.h>

float cosine(const float* x, const float* y, int n) {
  float xy = 0.0f, xx = 0.0f, yy = 0.0f;
  for (int i = 0; i < n; i++) {
    xy += x[i] * y[i];
    xx += x[i] * x[i];
    yy += y[i] * y[i];
  }
  return xy / sqrtf(xx * yy);
}
