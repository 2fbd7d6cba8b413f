// Reprojection error of a pinhole camera: a rotation vector, fixed-size matrices and geometry.
#include <Eigen/Core>
#include <Eigen/Geometry>

double reprojection_error(const double* pose, const double* points, const double* pixels, int n) {
  const Eigen::Vector3d w(pose[0], pose[1], pose[2]);
  const Eigen::Vector3d translation(pose[3], pose[4], pose[5]);
  const double angle = w.norm();
  const Eigen::Matrix3d rotation = Eigen::AngleAxisd(angle, w / angle).toRotationMatrix();
  double error = 0.0;
  for (int i = 0; i < n; ++i) {
    const Eigen::Vector3d world = Eigen::Map<const Eigen::Vector3d>(points + 3 * i);
    const Eigen::Vector3d camera = rotation * world + translation;
    const Eigen::Vector2d projected = camera.head<2>() / camera.z();
    const double radius2 = projected.squaredNorm();
    const Eigen::Vector2d distorted = 1.2 * (1.0 - 0.05 * radius2) * projected;
    error += (distorted - Eigen::Vector2d(pixels[2 * i], pixels[2 * i + 1])).squaredNorm();
  }
  return 0.5 * error;
}
