// A ray through lenses and gaps: unique_ptr to virtual classes.
#include <cmath>
#include <memory>
#include <vector>

class Element {
 public:
  virtual ~Element() = default;
  virtual void trace(double& height, double& angle) const = 0;
};

class Gap : public Element {
 public:
  explicit Gap(double length) : length_(length) {}
  void trace(double& height, double& angle) const override { height += length_ * std::tan(angle); }

 private:
  double length_;
};

class Lens : public Element {
 public:
  Lens(double focal, double aperture) : focal_(focal), aperture_(aperture) {}
  void trace(double& height, double& angle) const override {
    if (std::fabs(height) < aperture_) angle -= height / focal_;
  }

 private:
  double focal_, aperture_;
};

void trace_ray(const double* focal, const double* start, double* end, int n) {
  std::vector<std::unique_ptr<Element>> bench;
  for (int i = 0; i < n; ++i) {
    bench.push_back(std::make_unique<Gap>(0.3 + 0.1 * i));
    bench.push_back(std::make_unique<Lens>(focal[i], 1.0));
  }
  double height = start[0], angle = start[1];
  for (const auto& element : bench) element->trace(height, angle);
  end[0] = height;
  end[1] = angle;
}
