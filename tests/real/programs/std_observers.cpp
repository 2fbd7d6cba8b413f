// A random walk with plug-in drifts from a factory, watched by observers that others own (weak_ptr).
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

struct Observer {
  virtual ~Observer() = default;
  virtual void see(double value) = 0;
};

struct Mean : Observer {
  double sum = 0.0;
  int count = 0;
  void see(double value) override { sum += value; ++count; }
};

struct Peak : Observer {
  std::vector<double> history;
  void see(double value) override { history.push_back(value); }
  double top() const { return *std::max_element(history.begin(), history.end()); }
};

struct Drift {
  virtual ~Drift() = default;
  virtual double operator()(double x) const = 0;
};

class Pull : public Drift {
 public:
  Pull(double strength, double goal) : strength_(strength), goal_(goal) {}
  double operator()(double x) const override { return strength_ * (goal_ - x); }

 private:
  double strength_, goal_;
};

class Cubic : public Drift {
 public:
  explicit Cubic(double strength) : strength_(strength) {}
  double operator()(double x) const override { return -strength_ * x * x * x; }

 private:
  double strength_;
};

double walk(const double* p, double noise, int steps) {
  const std::map<std::string, std::function<std::shared_ptr<Drift>()>> factory{
      {"pull", [p] { return std::make_shared<Pull>(p[0], p[1]); }},
      {"cubic", [p] { return std::make_shared<Cubic>(p[2]); }}};
  const auto mean = std::make_shared<Mean>();
  const auto peak = std::make_shared<Peak>();
  std::vector<std::weak_ptr<Observer>> watchers{mean, peak};
  std::mt19937 generator(7);
  std::normal_distribution<> normal(0.0, 1.0);
  std::bernoulli_distribution coin(0.4);
  double x = 1.0;
  for (int s = 0; s < steps; ++s) {
    if (s == steps / 2) watchers.push_back(std::make_shared<Mean>());
    const auto drift = factory.at(coin(generator) ? "cubic" : "pull")();
    x += 0.05 * (*drift)(x) + noise * std::sqrt(0.05) * normal(generator);
    for (const auto& watcher : watchers)
      if (const auto observer = watcher.lock()) observer->see(x);
  }
  return mean->sum / mean->count + peak->top();
}
