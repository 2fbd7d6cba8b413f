// Rays through a lens of rotationally symmetric surfaces, in three dimensions.
//
// A surface is z = depth + c r^2 / (1 + sqrt(1 - c^2 r^2)) + a r^4 + b r^6. Each ray is carried to it by Newton's method and refracted by
// Snell's law in vector form.
#include <cmath>

namespace {

struct Vector {
  double x, y, z;
};

Vector operator+(Vector a, Vector b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
Vector operator*(double s, Vector a) { return {s * a.x, s * a.y, s * a.z}; }
double dot(Vector a, Vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

struct Surface {
  double depth, curvature, fourth, sixth;

  double sag(double r2) const {
    return depth + curvature * r2 / (1 + std::sqrt(1 - curvature * curvature * r2)) + r2 * r2 * (fourth + sixth * r2);
  }
  // The derivative of sag by r2.
  double slope(double r2) const {
    return curvature / (2 * std::sqrt(1 - curvature * curvature * r2)) + r2 * (2 * fourth + 3 * sixth * r2);
  }
};

// Moves a ray to a surface and bends it there; `ratio` is the old index of refraction over the new one.
void refract(const Surface& surface, double ratio, Vector& place, Vector& direction) {
  double t = (surface.depth - place.z) / direction.z;
  for (int i = 0; i < 6; i++) {
    Vector p = place + t * direction;
    double r2 = p.x * p.x + p.y * p.y, slope = surface.slope(r2);
    double speed = direction.z - 2 * slope * (p.x * direction.x + p.y * direction.y);
    t -= (p.z - surface.sag(r2)) / speed;
  }
  place = place + t * direction;
  double slope = surface.slope(place.x * place.x + place.y * place.y);
  Vector normal = {-2 * slope * place.x, -2 * slope * place.y, 1};
  normal = (1 / std::sqrt(dot(normal, normal))) * normal;
  double along = dot(normal, direction);
  double bent = std::sqrt(1 - ratio * ratio * (1 - along * along));
  direction = ratio * direction + (bent - ratio * along) * normal;
}

}  // namespace

// surfaces[i] = {depth, curvature, fourth, sixth}, indices[i] the index of refraction behind surface i. rays[k] = {x, y, z, dx, dy, dz} starts
// in air. path[k][i] is where ray k meets surface i, and path[k][count] where it meets the film at depth `film`.
void trace(const double* surfaces, const double* indices, int count, double film, const double* rays, int n, double* path) {
  for (int k = 0; k < n; k++) {
    const double* ray = rays + 6 * k;
    Vector place = {ray[0], ray[1], ray[2]}, direction = {ray[3], ray[4], ray[5]};
    double before = 1;
    double* out = path + 3 * (count + 1) * k;
    for (int i = 0; i <= count; i++) {
      if (i < count) {
        const double* s = surfaces + 4 * i;
        refract({s[0], s[1], s[2], s[3]}, before / indices[i], place, direction);
        before = indices[i];
      } else {
        place = place + ((film - place.z) / direction.z) * direction;
      }
      out[3 * i] = place.x;
      out[3 * i + 1] = place.y;
      out[3 * i + 2] = place.z;
    }
  }
}
