// Position on an elliptic orbit: Kepler's equation by Newton's method within a bracket.
#include <boost/math/tools/roots.hpp>
#include <cmath>
#include <utility>

void position(double mean_anomaly, double eccentricity, double* xy) {
  auto equation = [=](double e) {
    return std::make_pair(e - eccentricity * std::sin(e) - mean_anomaly, 1.0 - eccentricity * std::cos(e));
  };
  const double e = boost::math::tools::newton_raphson_iterate(equation, mean_anomaly, 0.0, 2.0 * M_PI, 52);
  xy[0] = std::cos(e) - eccentricity;
  xy[1] = std::sqrt(1.0 - eccentricity * eccentricity) * std::sin(e);
}
