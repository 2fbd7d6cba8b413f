// Energy of gravitating bodies with a softened potential; bodies as structs in a std::vector.
#include <cmath>
#include <vector>

namespace {

struct Vec3 {
  double x, y, z;
};

struct Body {
  Vec3 r, v;
  double mass;
};

double dot(const Vec3& a, const Vec3& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
Vec3 operator-(const Vec3& a, const Vec3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }

const double SOFTENING = 1e-2;

}  // namespace

extern "C" double energy(const double* position, const double* velocity, const double* mass, int n) {
  std::vector<Body> bodies(n);
  for (int i = 0; i < n; i++) {
    const double* r = position + 3 * i;
    const double* v = velocity + 3 * i;
    bodies[i] = {{r[0], r[1], r[2]}, {v[0], v[1], v[2]}, mass[i]};
  }

  double total = 0.0;
  for (int i = 0; i < n; i++) {
    const Body& a = bodies[i];
    total += 0.5 * a.mass * dot(a.v, a.v);
    for (int j = 0; j < i; j++) {
      const Body& b = bodies[j];
      const Vec3 d = a.r - b.r;
      total -= a.mass * b.mass / std::sqrt(dot(d, d) + SOFTENING);
    }
  }
  return total;
}
