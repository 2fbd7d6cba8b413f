// Populations of prey and predators after a time, by odeint's Runge-Kutta method of order 4.
#include <array>
#include <boost/numeric/odeint.hpp>

namespace odeint = boost::numeric::odeint;
using State = std::array<double, 2>;

void populations(const double* start, const double* rates, double* end) {
  const auto rhs = [rates](const State& x, State& dxdt, double) {
    dxdt[0] = rates[0] * x[0] - rates[1] * x[0] * x[1];
    dxdt[1] = -rates[2] * x[1] + rates[3] * x[0] * x[1];
  };
  State state{start[0], start[1]};
  odeint::runge_kutta4<State> stepper;
  odeint::integrate_const(stepper, rhs, state, 0.0, 2.0, 0.05);
  end[0] = state[0];
  end[1] = state[1];
}
