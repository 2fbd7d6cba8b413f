// A formula as a tree of shared nodes, evaluated at several points.
#include <cmath>
#include <memory>

struct Node {
  virtual ~Node() = default;
  virtual double at(double x) const = 0;
};
using Expression = std::shared_ptr<const Node>;

struct Constant final : Node {
  double value;
  explicit Constant(double v) : value(v) {}
  double at(double) const override { return value; }
};
struct Variable final : Node {
  double at(double x) const override { return x; }
};
struct Product final : Node {
  Expression a, b;
  Product(Expression l, Expression r) : a(std::move(l)), b(std::move(r)) {}
  double at(double x) const override { return a->at(x) * b->at(x); }
};
struct Sine final : Node {
  Expression a;
  explicit Sine(Expression e) : a(std::move(e)) {}
  double at(double x) const override { return std::sin(a->at(x)); }
};

void formula(const double* parameters, const double* x, double* y, int n) {
  const Expression variable = std::make_shared<Variable>();
  const Expression inner = std::make_shared<Product>(std::make_shared<Constant>(parameters[0]), variable);
  const Expression sine = std::make_shared<Sine>(inner);
  const Expression whole = std::make_shared<Product>(std::make_shared<Constant>(parameters[1]),
                                                     std::make_shared<Product>(sine, inner));
  for (int i = 0; i < n; ++i) y[i] = whole->at(x[i]);
}
