// Structs passed and returned by value: points rotated by a quaternion, which is normalised here.
#include <math.h>

typedef struct { double w, x, y, z; } quat;

static quat mul(quat a, quat b) {
  quat c = {a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
            a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
            a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
            a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
  return c;
}

void rotate(const double* q, const double* p, int n, double* out) {
  double norm = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  quat r = {q[0] / norm, q[1] / norm, q[2] / norm, q[3] / norm};
  quat inverse = {r.w, -r.x, -r.y, -r.z};
  for (int i = 0; i < n; i++) {
    quat v = {0.0, p[3 * i], p[3 * i + 1], p[3 * i + 2]};
    quat t = mul(mul(r, v), inverse);
    out[3 * i] = t.x;
    out[3 * i + 1] = t.y;
    out[3 * i + 2] = t.z;
  }
}
