// First intersection of a ray with spheres: std::optional of a distance, a struct of numbers and structured bindings.
#include <cmath>
#include <optional>
#include <tuple>

struct Vec3 {
  double x, y, z;
  Vec3 operator-(const Vec3& o) const { return {x - o.x, y - o.y, z - o.z}; }
  double dot(const Vec3& o) const { return x * o.x + y * o.y + z * o.z; }
};

static std::optional<double> hit(const Vec3& from, const Vec3& along, const Vec3& centre, double radius) {
  const Vec3 d = from - centre;
  const double b = d.dot(along), c = d.dot(d) - radius * radius;
  const double discriminant = b * b - c * along.dot(along);
  if (discriminant < 0.0) return std::nullopt;
  return (-b - std::sqrt(discriminant)) / along.dot(along);
}

static std::tuple<double, int> first(const Vec3& from, const Vec3& along, const double* spheres, int n) {
  double nearest = 100.0;
  int which = -1;
  for (int i = 0; i < n; ++i) {
    const double* s = spheres + 4 * i;
    if (const auto t = hit(from, along, {s[0], s[1], s[2]}, s[3]); t && *t > 0.0 && *t < nearest) {
      nearest = *t;
      which = i;
    }
  }
  return {nearest, which};
}

double depth(const double* direction, const double* spheres, int n) {
  const auto [distance, which] = first({0.0, 0.0, 0.0}, {direction[0], direction[1], 1.0}, spheres, n);
  return which < 0 ? std::log(distance) + direction[0] : distance * (which + 1.0);
}
