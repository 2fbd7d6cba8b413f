// By hand: one observation after the other, from the residual back to camera, point and weight.
#include <string.h>

#include "bundle.c"

double primal(const double* cameras, const double* points, const double* weights, const int* seen, const double* features,
              int n, int m, int p) {
  return bundle(cameras, points, weights, seen, features, n, m, p);
}

static void cross(const double* a, const double* b, double* out) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

static double dot(const double* a, const double* b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

void gradient(const double* restrict cameras, const double* restrict points, const double* restrict weights,
              const int* restrict seen, const double* restrict features, int n, int m, int p, double* restrict dcameras,
              double* restrict dpoints, double* restrict dweights) {
  memset(dcameras, 0, 11 * n * sizeof(double));
  memset(dpoints, 0, 3 * m * sizeof(double));
  for (int o = 0; o < p; o++) {
    const double* camera = cameras + 11 * seen[2 * o];
    const double* point = points + 3 * seen[2 * o + 1];
    double* dcamera = dcameras + 11 * seen[2 * o];
    double* dpoint = dpoints + 3 * seen[2 * o + 1];

    // Forward. A rotation by no angle is the identity; w, then of no direction, is 0.
    double x[3], w[3], wx[3], r[3];
    for (int i = 0; i < 3; i++) x[i] = point[i] - camera[3 + i];
    const double angle = sqrt(dot(camera, camera)), inverse = angle > 0.0 ? 1.0 / angle : 0.0;
    const double c = cos(angle), s = sin(angle);
    for (int i = 0; i < 3; i++) w[i] = camera[i] * inverse;
    cross(w, x, wx);
    const double wdotx = dot(w, x);
    for (int i = 0; i < 3; i++) r[i] = x[i] * c + wx[i] * s + w[i] * wdotx * (1.0 - c);
    const double iz = 1.0 / r[2], u = r[0] * iz, v = r[1] * iz;
    const double square = u * u + v * v, focal = camera[6];
    const double distortion = 1.0 + square * (camera[9] + camera[10] * square);
    const double eu = camera[7] + focal * u * distortion - features[2 * o];
    const double ev = camera[8] + focal * v * distortion - features[2 * o + 1];

    // Residuals w e and 1 - w^2: back to the image point.
    const double weight = weights[o];
    dweights[o] = weight * (eu * eu + ev * ev) - 2.0 * weight * (1.0 - weight * weight);
    const double gu = weight * weight * eu, gv = weight * weight * ev;
    dcamera[7] += gu;
    dcamera[8] += gv;
    dcamera[6] += (gu * u + gv * v) * distortion;
    const double by_distortion = focal * (gu * u + gv * v);
    dcamera[9] += by_distortion * square;
    dcamera[10] += by_distortion * square * square;
    const double by_square = by_distortion * (camera[9] + 2.0 * camera[10] * square);
    const double du = gu * focal * distortion + 2.0 * u * by_square;
    const double dv = gv * focal * distortion + 2.0 * v * by_square;
    const double g[3] = {du * iz, dv * iz, -(du * u + dv * v) * iz};

    // Through Rodrigues' formula.
    double gw[3], xg[3], dw[3];
    cross(g, w, gw);
    cross(x, g, xg);
    const double wg = dot(w, g), dangle = c * dot(g, wx) - s * (dot(g, x) - wg * wdotx);
    for (int i = 0; i < 3; i++) {
      const double dx = g[i] * c + gw[i] * s + w[i] * wg * (1.0 - c);
      dpoint[i] += dx;
      dcamera[3 + i] -= dx;
      dw[i] = s * xg[i] + (1.0 - c) * (g[i] * wdotx + x[i] * wg);
    }
    if (angle > 0.0) {
      const double turn = dangle - dot(w, dw) * inverse;
      for (int i = 0; i < 3; i++) dcamera[i] += dw[i] * inverse + w[i] * turn;
    } else {
      for (int i = 0; i < 3; i++) dcamera[i] += xg[i];
    }
  }
}
