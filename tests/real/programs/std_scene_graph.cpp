// The area of nested shapes: children by shared_ptr, parents by weak_ptr and enable_shared_from_this.
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

class Shape : public std::enable_shared_from_this<Shape> {
 public:
  explicit Shape(double scale) : scale_(scale) {}
  virtual ~Shape() = default;
  virtual double own_area() const = 0;

  void add(std::shared_ptr<Shape> child) {
    child->parent_ = shared_from_this();
    children_.push_back(std::move(child));
  }

  double world_scale() const {
    const auto parent = parent_.lock();
    return parent ? parent->world_scale() * scale_ : scale_;
  }

  double area() const {
    double sum = own_area() * world_scale() * world_scale();
    for (const auto& child : children_) sum += child->area();
    return sum;
  }

 private:
  double scale_;
  std::weak_ptr<Shape> parent_;
  std::vector<std::shared_ptr<Shape>> children_;
};

class Disk : public Shape {
 public:
  Disk(double scale, double radius) : Shape(scale), radius_(radius) {}
  double own_area() const override { return M_PI * radius_ * radius_; }

 private:
  double radius_;
};

class Box : public Shape {
 public:
  Box(double scale, double width, double height) : Shape(scale), width_(width), height_(height) {}
  double own_area() const override { return width_ * height_; }

 private:
  double width_, height_;
};

double scene_area(const double* scale, const double* size, int n) {
  const std::shared_ptr<Shape> root = std::make_shared<Box>(1.0, 1.0, 1.0);
  std::shared_ptr<Shape> place = root;
  for (int i = 0; i < n; ++i) {
    std::shared_ptr<Shape> child;
    if (i % 2) child = std::make_shared<Disk>(scale[i], size[i]);
    else child = std::make_shared<Box>(scale[i], size[i], 2.0 * size[i]);
    place->add(child);
    if (i % 3 == 0) place = child;
  }
  return root->area();
}
