// A Van der Pol oscillator with steps of controlled error (dopri5), a struct as the right-hand side.
#include <boost/numeric/odeint.hpp>
#include <vector>

struct VanDerPol {
  double mu;
  void operator()(const std::vector<double>& x, std::vector<double>& dxdt, double) const {
    dxdt[0] = x[1];
    dxdt[1] = mu * (1.0 - x[0] * x[0]) * x[1] - x[0];
  }
};

double final_energy(double mu, const double* start) {
  using namespace boost::numeric::odeint;
  std::vector<double> x(start, start + 2);
  using Stepper = runge_kutta_dopri5<std::vector<double>>;
  // The tolerance keeps every step at the first size tried, so differences see no change of it.
  integrate_adaptive(make_controlled<Stepper>(1e-2, 1e-2), VanDerPol{mu}, x, 0.0, 1.0, 0.1);
  return 0.5 * (x[0] * x[0] + x[1] * x[1]);
}
