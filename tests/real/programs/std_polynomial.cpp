// Polynomials in two variables: a map from array<int, 2>, copied, multiplied and differentiated.
#include <array>
#include <cmath>
#include <map>
#include <utility>

class Polynomial {
 public:
  Polynomial() = default;
  Polynomial(double factor, int i, int j) { terms_[{i, j}] = factor; }

  friend Polynomial operator+(Polynomial a, const Polynomial& b) {
    for (const auto& [powers, factor] : b.terms_) a.terms_[powers] += factor;
    return a;
  }

  friend Polynomial operator*(const Polynomial& a, const Polynomial& b) {
    Polynomial product;
    for (const auto& [p, c] : a.terms_)
      for (const auto& [q, d] : b.terms_) product.terms_[{p[0] + q[0], p[1] + q[1]}] += c * d;
    return product;
  }

  Polynomial by_x() const {
    Polynomial slope;
    for (const auto& [p, c] : terms_)
      if (p[0] > 0) slope.terms_[{p[0] - 1, p[1]}] += c * p[0];
    return slope;
  }

  double operator()(double x, double y) const {
    double sum = 0.0;
    for (const auto& [p, c] : terms_) sum += c * std::pow(x, p[0]) * std::pow(y, p[1]);
    return sum;
  }

 private:
  std::map<std::array<int, 2>, double> terms_;
};

double polynomial(const double* c, double x, double y) {
  Polynomial p = Polynomial(c[0], 1, 0) + Polynomial(c[1], 0, 1) + Polynomial(c[2], 0, 0), q = p;
  for (int k = 0; k < 3; ++k) q = q * p;
  Polynomial slope = q.by_x();
  std::swap(p, slope);
  return p(x, y) + 0.1 * q(x, y);
}
