// Damped pendulums, each released from its own angle and speed, by the classic Runge-Kutta method: plain C++, without
// any code for gradients. theta[i,k] is the angle of pendulum i at time k DT. Large swings: no small-angle formula.
#include <cmath>

namespace {

struct State {
  double angle, speed;
};

State slope(State s, double length, double damping) {
  const double gravity = 9.81;
  return {s.speed, -gravity / length * std::sin(s.angle) - damping * s.speed};
}

State moved(State s, State d, double h) { return {s.angle + h * d.angle, s.speed + h * d.speed}; }

State advanced(State s, double h, double length, double damping) {
  State a = slope(s, length, damping);
  State b = slope(moved(s, a, h / 2), length, damping);
  State c = slope(moved(s, b, h / 2), length, damping);
  State d = slope(moved(s, c, h), length, damping);
  return {s.angle + h / 6 * (a.angle + 2 * b.angle + 2 * c.angle + d.angle),
          s.speed + h / 6 * (a.speed + 2 * b.speed + 2 * c.speed + d.speed)};
}

}  // namespace

void swing(const double* start, const double* length, double damping, int b, int t, double* theta) {
  for (int i = 0; i < b; i++) {
    State s = {start[2 * i], start[2 * i + 1]};
    for (int k = 0; k < t; k++) {
      theta[i * t + k] = s.angle;
      s = advanced(s, DT, length[i], damping);
    }
  }
}
