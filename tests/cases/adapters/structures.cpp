// Structures as parameters: each member is one of the signature's.
#include <array>
#include <cmath>
#include <vector>

namespace model {
struct Vec3 {
  double x, y, z;
};

struct Options {
  double stiffness;
  float scale = 1;
  int power = 2;
  double weights[3];
  std::vector<double> knots;
  Vec3 centre;
};

struct State {
  double *position;
  int n;
  double energy;
  std::array<double, 2> moments;
};

double potential(const Options& o, const std::vector<double>& x) {
  double sum = 0;
  for (double v : x) sum += o.stiffness * std::pow(v - o.centre.x, o.power) * o.scale;
  for (std::size_t i = 0; i < o.knots.size(); ++i) sum += o.weights[i % 3] * o.knots[i] * o.centre.y;
  return sum + o.centre.z;
}

void advance(State* s, double dt) {
  s->energy = 0;
  for (int i = 0; i < s->n; ++i) {
    s->position[i] += dt * s->position[i] * s->position[i];
    s->energy += s->position[i] * s->position[i];
  }
  s->moments[0] *= dt;
}

double length(Vec3 v) { return std::sqrt(v.x * v.x + v.y * v.y + v.z * v.z); }

struct Spring {
  double k;
  double energy(const std::vector<double>& x) const {
    double sum = 0;
    for (double v : x) sum += k * v * v;
    return sum;
  }
};

double used(const std::vector<double>& x) { return Spring{2}.energy(x); }

void redirected(State& s) { s.position = &s.energy; }

class Closed {
  double k = 2;

 public:
  double x;
};

double closed(const Closed& c) { return c.x; }

struct Base {
  double b;
};
struct Derived : Base {
  double x;
};
double derived(const Derived& d) { return d.x * d.b; }
}  // namespace model
