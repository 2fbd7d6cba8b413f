// Energy of a vibrating string with std::valarray: slices, shifts and whole-array functions.
#include <cmath>
#include <valarray>

double string_energy(const double* u, double tension, int n) {
  std::valarray<double> position(u, n);
  std::valarray<double> velocity(0.0, n);
  for (int step = 0; step < 4; ++step) {
    const std::valarray<double> bend = position.cshift(1) - 2.0 * position + position.cshift(-1);
    velocity += 0.1 * tension * bend;
    position += 0.1 * velocity;
  }
  const std::valarray<double> even = position[std::slice(0, (n + 1) / 2, 2)];
  return (velocity * velocity).sum() + std::sqrt(position * position + 1.0).sum() + even.max();
}
