// Bundle adjustment: half the sum of squares of all residuals. Camera model and weights as in ADBench.
//
// cameras[n,11]: rotation vector (3), centre (3), focal length, principal point (2), radial distortion (2); points[m,3];
// weights[p]; seen[p,2]: camera and point of each observation; features[p,2]: where it was seen.
#include <math.h>

static void rotate(const double* rotation, const double* x, double* out) {
  const double square = rotation[0] * rotation[0] + rotation[1] * rotation[1] + rotation[2] * rotation[2];
  if (square == 0.0) {
    out[0] = x[0] + rotation[1] * x[2] - rotation[2] * x[1];
    out[1] = x[1] + rotation[2] * x[0] - rotation[0] * x[2];
    out[2] = x[2] + rotation[0] * x[1] - rotation[1] * x[0];
    return;
  }
  const double angle = sqrt(square), c = cos(angle), s = sin(angle);
  const double w[3] = {rotation[0] / angle, rotation[1] / angle, rotation[2] / angle};
  const double cross[3] = {w[1] * x[2] - w[2] * x[1], w[2] * x[0] - w[0] * x[2], w[0] * x[1] - w[1] * x[0]};
  const double along = (w[0] * x[0] + w[1] * x[1] + w[2] * x[2]) * (1.0 - c);
  for (int i = 0; i < 3; i++) out[i] = x[i] * c + cross[i] * s + w[i] * along;
}

static void project(const double* camera, const double* point, double* out) {
  double centred[3], r[3];
  for (int i = 0; i < 3; i++) centred[i] = point[i] - camera[3 + i];
  rotate(camera, centred, r);
  const double u = r[0] / r[2], v = r[1] / r[2];
  const double square = u * u + v * v;
  const double distortion = 1.0 + camera[9] * square + camera[10] * square * square;
  out[0] = camera[7] + camera[6] * u * distortion;
  out[1] = camera[8] + camera[6] * v * distortion;
}

double bundle(const double* cameras, const double* points, const double* weights, const int* seen, const double* features,
              int n, int m, int p) {
  double total = 0.0;
  for (int i = 0; i < p; i++) {
    double image[2];
    project(cameras + 11 * seen[2 * i], points + 3 * seen[2 * i + 1], image);
    const double w = weights[i], rw = 1.0 - w * w;
    const double ru = w * (image[0] - features[2 * i]), rv = w * (image[1] - features[2 * i + 1]);
    total += 0.5 * (ru * ru + rv * rv + rw * rw);
  }
  return total;
}
