// A std::vector member made from a pointer range: a memcpy whose element type Enzyme has to find out.
#include <vector>

class Window {
 public:
  Window(const double* first, int count);
  double at(int i) const { return values_[i]; }

 private:
  std::vector<double> values_;
};

Window::Window(const double* first, int count) : values_(first, first + count) {}

extern "C" double pair_products(const double* x, int n) {
  Window window(x, n);
  double s = 0.0;
  for (int i = 0; i + 1 < n; i++) s += window.at(i) * window.at(i + 1);
  return s;
}
