// A chain of three nuclides, recorded by an observer at equal times.
#include <boost/numeric/odeint.hpp>
#include <vector>

double misfit(const double* lambda, const double* activity, int times) {
  using namespace boost::numeric::odeint;
  using State = std::vector<double>;
  auto system = [&](const State& n, State& dn, double) {
    dn[0] = -lambda[0] * n[0];
    dn[1] = lambda[0] * n[0] - lambda[1] * n[1];
    dn[2] = lambda[1] * n[1] - lambda[2] * n[2];
  };
  std::vector<State> states;
  State n{1.0, 0.0, 0.0};
  integrate_n_steps(runge_kutta4<State>(), system, n, 0.0, 0.25, times - 1,
                    [&states](const State& s, double) { states.push_back(s); });
  double sum = 0.0;
  for (int i = 0; i < times; ++i) {
    const double difference = lambda[1] * states[i][1] - activity[i];
    sum += difference * difference;
  }
  return sum;
}
