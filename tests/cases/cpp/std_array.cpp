// std::array by value and by reference: triangle areas from cross products.
// Wrong in reverse mode unless the loop is outlined or --enzyme-mincut-cache=0.
#include <array>
#include <cmath>

using vec3 = std::array<double, 3>;

static vec3 cross(const vec3& a, const vec3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

extern "C" double triangle_area(const double* p, int n) {
  double area = 0.0;
  for (int i = 0; i + 2 < n; i++) {
    vec3 u, v;
    for (int j = 0; j < 3; j++) {
      u[j] = p[3 * (i + 1) + j] - p[3 * i + j];
      v[j] = p[3 * (i + 2) + j] - p[3 * i + j];
    }
    vec3 c = cross(u, v);
    area += 0.5 * std::sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2]);
  }
  return area;
}
