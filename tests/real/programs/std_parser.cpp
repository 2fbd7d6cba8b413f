// A formula as text, parsed into a tree of nodes and evaluated with variables from a map; a power of zero among its values.
#include <cctype>
#include <cmath>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

using Variables = std::map<std::string, double>;

struct Node {
  virtual ~Node() = default;
  virtual double value(const Variables& variables) const = 0;
};
using Tree = std::unique_ptr<Node>;

struct Number : Node {
  double number;
  explicit Number(double given) : number(given) {}
  double value(const Variables&) const override { return number; }
};

struct Name : Node {
  std::string name;
  explicit Name(std::string given) : name(std::move(given)) {}
  double value(const Variables& variables) const override { return variables.at(name); }
};

struct Operation : Node {
  char sign;
  Tree left, right;
  Operation(char s, Tree l, Tree r) : sign(s), left(std::move(l)), right(std::move(r)) {}
  double value(const Variables& variables) const override {
    const double a = left->value(variables), b = right->value(variables);
    switch (sign) {
      case '+': return a + b;
      case '-': return a - b;
      case '*': return a * b;
      case '/': return a / b;
      default: return std::pow(a, b);
    }
  }
};

class Parser {
 public:
  explicit Parser(std::string text) : text_(std::move(text)) {}

  Tree sum() {
    Tree tree = product();
    for (skip(); at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-'); skip()) {
      const char sign = text_[at_++];
      tree = std::make_unique<Operation>(sign, std::move(tree), product());
    }
    return tree;
  }

 private:
  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }

  Tree product() {
    Tree tree = atom();
    for (skip(); at_ < text_.size() && std::string("*/^").find(text_[at_]) != std::string::npos; skip()) {
      const char sign = text_[at_++];
      tree = std::make_unique<Operation>(sign, std::move(tree), atom());
    }
    return tree;
  }

  Tree atom() {
    skip();
    if (text_[at_] == '(') {
      ++at_;
      Tree tree = sum();
      skip();
      ++at_;
      return tree;
    }
    if (std::isdigit(static_cast<unsigned char>(text_[at_]))) {
      std::size_t used = 0;
      const double number = std::stod(text_.substr(at_), &used);
      at_ += used;
      return std::make_unique<Number>(number);
    }
    std::string name;
    while (at_ < text_.size() && std::isalpha(static_cast<unsigned char>(text_[at_]))) name += text_[at_++];
    if (name.empty()) throw std::runtime_error("not a formula: " + text_.substr(at_));
    return std::make_unique<Name>(name);
  }

  std::string text_;
  std::size_t at_ = 0;
};

double sum_of_formula(const double* a, double k, int n) {
  const Tree tree = Parser("x^2 * a + k / (1 + x * x) - 3.5 * a").sum();
  double total = 0.0;
  for (int i = 0; i < n; ++i) total += tree->value({{"x", 0.1 * i}, {"a", a[i]}, {"k", k}});
  return total;
}
