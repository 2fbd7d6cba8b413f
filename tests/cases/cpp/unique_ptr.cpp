// std::unique_ptr to an array and to an object with a destructor.
#include <cmath>
#include <memory>

namespace {

class Filter {
 public:
  explicit Filter(int n) : state_(new double[n]()), n_(n) {}
  double push(double v, double gain) {
    for (int i = n_ - 1; i > 0; i--) state_[i] += gain * (state_[i - 1] - state_[i]);
    state_[0] += gain * (v - state_[0]);
    return state_[n_ - 1];
  }

 private:
  std::unique_ptr<double[]> state_;
  int n_;
};

}  // namespace

extern "C" void cascade(const double* x, double gain, int n, double* y) {
  auto filter = std::make_unique<Filter>(3);
  for (int i = 0; i < n; i++) y[i] = filter->push(x[i], gain);
}
