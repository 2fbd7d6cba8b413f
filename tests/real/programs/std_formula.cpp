// A formula as a tree of std::variant: numbers, numbers of variables, and addresses of further trees.
#include <cmath>
#include <memory>
#include <variant>

struct Sum;
struct Product;
struct Exponential;
template <class T>
using Owned = std::unique_ptr<T>;
using Term = std::variant<double, int, Owned<Sum>, Owned<Product>, Owned<Exponential>>;
struct Sum { Term left, right; };
struct Product { Term left, right; };
struct Exponential { Term of; };

template <class T>
Term node(Term left, Term right) {
  return std::make_unique<T>(T{std::move(left), std::move(right)});
}

double value(const Term& term, const double* x) {
  struct Visitor {
    const double* x;
    double operator()(double number) const { return number; }
    double operator()(int variable) const { return x[variable]; }
    double operator()(const Owned<Sum>& s) const { return value(s->left, x) + value(s->right, x); }
    double operator()(const Owned<Product>& p) const { return value(p->left, x) * value(p->right, x); }
    double operator()(const Owned<Exponential>& e) const { return std::exp(value(e->of, x)); }
  };
  return std::visit(Visitor{x}, term);
}

double formula(const double* x, double scale) {
  Term inner = node<Product>(Term(scale), node<Sum>(Term(0), node<Product>(Term(1), Term(2))));
  Term whole = node<Sum>(std::make_unique<Exponential>(Exponential{std::move(inner)}), node<Product>(Term(0), Term(0.5)));
  return value(whole, x);
}
