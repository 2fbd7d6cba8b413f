// Rates of a reaction written as a formula: each node has a tag and one of a number, the address of a variable, or a function.
// Enzyme's type analysis has one type for the word that holds them ("Illegal updateAnalysis").
#include <cmath>
#include <deque>

namespace {

struct Node {
  enum Kind { number, variable, call } kind;
  union {
    double value;
    const double *address;
    double (*function)(double, double);
  };
  const Node *left, *right;
};

double product(double a, double b) { return a * b; }
double saturation(double a, double b) { return a / (1 + b * b); }

double evaluate(const Node &node) {
  switch (node.kind) {
    case Node::number:
      return node.value;
    case Node::variable:
      return *node.address;
    default:
      return node.function(evaluate(*node.left), evaluate(*node.right));
  }
}

struct Formula {
  std::deque<Node> nodes;

  Node *add(Node::Kind kind) {
    nodes.emplace_back();
    nodes.back().kind = kind;
    return &nodes.back();
  }
  const Node *of(double value) {
    Node *node = add(Node::number);
    node->value = value;
    return node;
  }
  const Node *of(const double *address) {
    Node *node = add(Node::variable);
    node->address = address;
    return node;
  }
  const Node *of(double (*function)(double, double), const Node *left, const Node *right) {
    Node *node = add(Node::call);
    node->function = function;
    node->left = left;
    node->right = right;
    return node;
  }
};

}  // namespace

extern "C" void tagged_values(const double *x, int n, double *y) {
  Formula formula;
  const Node *scale = formula.of(2.5), *power = formula.of(std::sqrt(x[0] * x[0] + 1));
  for (int i = 0; i < n; ++i) {
    const Node *own = formula.of(x + i), *next = formula.of(x + (i + 1) % n);
    y[i] = evaluate(*formula.of(saturation, formula.of(product, scale, own), formula.of(product, power, next)));
  }
}
