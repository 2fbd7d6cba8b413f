// Volume and surface of shapes: std::variant and std::visit with overloaded lambdas.
#include <cmath>
#include <variant>
#include <vector>

struct Sphere { double radius; };
struct Box { double a, b, c; };
struct Cylinder { double radius, height; };
using Shape = std::variant<Sphere, Box, Cylinder>;

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

double sphericity(const double* size, int n) {
  std::vector<Shape> shapes;
  for (int i = 0; i < n; ++i) {
    if (i % 3 == 0) shapes.emplace_back(Sphere{size[i]});
    else if (i % 3 == 1) shapes.emplace_back(Box{size[i], 1.0, 2.0});
    else shapes.emplace_back(Cylinder{size[i], size[i - 1]});
  }
  double volume = 0.0, surface = 0.0;
  for (const Shape& shape : shapes) {
    volume += std::visit(Overloaded{[](const Sphere& s) { return 4.0 / 3.0 * M_PI * std::pow(s.radius, 3); },
                                    [](const Box& b) { return b.a * b.b * b.c; },
                                    [](const Cylinder& c) { return M_PI * c.radius * c.radius * c.height; }},
                         shape);
    surface += std::visit(Overloaded{[](const Sphere& s) { return 4.0 * M_PI * s.radius * s.radius; },
                                     [](const Box& b) { return 2.0 * (b.a * b.b + b.b * b.c + b.a * b.c); },
                                     [](const Cylinder& c) { return 2.0 * M_PI * c.radius * (c.radius + c.height); }},
                          shape);
  }
  return std::cbrt(volume * volume) / surface;
}
