// Bundle adjustment's residual with Ceres' rotations, on plain numbers.
#include <ceres/rotation.h>

void projection(const double* camera, const double* point, double* residual) {
  double p[3];
  ceres::AngleAxisRotatePoint(camera, point, p);
  for (int i = 0; i < 3; ++i) p[i] += camera[3 + i];
  const double x = -p[0] / p[2], y = -p[1] / p[2];
  const double r2 = x * x + y * y;
  const double distortion = 1.0 + r2 * (camera[7] + camera[8] * r2);
  residual[0] = camera[6] * distortion * x;
  residual[1] = camera[6] * distortion * y;
}
