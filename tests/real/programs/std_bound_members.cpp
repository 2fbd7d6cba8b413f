// Controllers whose members are bound with std::bind and kept by name.
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

class Controller {
  double gain_, limit_, sum_ = 0.0;

 public:
  Controller(double gain, double limit) : gain_(gain), limit_(limit) {}
  double proportional(double error) const { return gain_ * error; }
  double saturated(double error, double steepness) const { return limit_ * std::tanh(steepness * error / limit_); }
  double integral(double error, double step) { return gain_ * (sum_ += step * error); }
};

void actuate(double gain, double limit, const double* error, double* command, int n) {
  using std::placeholders::_1;
  Controller controller(gain, limit);
  std::map<std::string, std::function<double(double)>> actions;
  actions["proportional"] = std::bind(&Controller::proportional, &controller, _1);
  actions["integral"] = std::bind(&Controller::integral, &controller, _1, 0.1);
  actions["saturated"] = std::bind(&Controller::saturated, std::cref(controller), _1, 2.0);
  for (int i = 0; i < n; ++i) {
    command[i] = 0.0;
    for (auto& [name, action] : actions) command[i] += action(error[i]);
  }
}
