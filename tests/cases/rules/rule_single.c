// Single precision, by value and behind pointers, and a parameter that the rule gets as constant memory.
#include <ffgrad/derivatives.h>
#include <math.h>

static const float knots[3] = {0.5f, 1.0f, 2.0f};

float mix(const float* w, const float* u, int n, float s) {
  float sum = 0;
  for (int i = 0; i < n; i++) sum += w[i] * u[i] * s;
  return sum;
}
float mix_fwd(const float* w, const float* dw, const float* u, const float* du, int n, float s, float ds, float* dy) {
  float d = 0;
  for (int i = 0; i < n; i++) {
    d += w[i] * u[i] * ds;
    if (dw) d += dw[i] * u[i] * s;
    if (du) d += w[i] * du[i] * s;
  }
  *dy = d;
  return mix(w, u, n, s);
}
void mix_rev(const float* w, float* dw, const float* u, float* du, int n, float s, float* ds, float dy) {
  for (int i = 0; i < n; i++) {
    *ds += w[i] * u[i] * dy;
    if (dw) dw[i] += u[i] * s * dy;
    if (du) du[i] += w[i] * s * dy;
  }
}
FFGRAD_DERIVATIVES(mix, mix_fwd, mix_rev);

float blend(const float* x, float s) { return mix(knots, x, 3, s) + mix(x, x + 1, 2, tanhf(s)); }
