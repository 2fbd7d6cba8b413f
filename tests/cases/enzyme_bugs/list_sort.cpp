// Sorting a list: libstdc++ keeps parts of it in an array of heads, which have no number where nodes have theirs. A visitor of nodes behind a
// base class, whose functions share a slot and a type with those of the nodes, and a result that some of them set to a constant.
#include <cmath>
#include <list>
#include <memory>
#include <vector>

namespace {

struct Leaf;
struct Product;

struct Visitor {
    virtual ~Visitor() = default;
    virtual void visit(const Leaf &leaf) = 0;
    virtual void visit(const Product &product) = 0;
};

struct Node {
    virtual ~Node() = default;
    virtual void accept(Visitor &visitor) const = 0;
};

struct Leaf : Node {
    explicit Leaf(double value) : value(value) {}
    void accept(Visitor &visitor) const override { visitor.visit(*this); }
    double value;
};

struct Product : Node {
    Product(std::unique_ptr<Node> left, std::unique_ptr<Node> right) : left(std::move(left)), right(std::move(right)) {}
    void accept(Visitor &visitor) const override { visitor.visit(*this); }
    std::unique_ptr<Node> left, right;
};

struct Value : Visitor {
    double of(const Node &node) {
        node.accept(*this);
        return result;
    }
    void visit(const Leaf &leaf) override { result = leaf.value; }
    void visit(const Product &product) override {
        double left = of(*product.left), right = of(*product.right);
        result = left * right;
    }
    double result = 0;
};

} // namespace

extern "C" void list_sort(const double *x, int n, double *y) {
    std::list<double> keys;
    for (int i = 0; i < n; i++) keys.push_back(std::sin(x[i]));
    keys.sort();
    std::unique_ptr<Node> tree = std::make_unique<Leaf>(keys.front());
    int i = 0;
    for (double key : keys) {
        tree = std::make_unique<Product>(std::make_unique<Leaf>(key + 2), std::move(tree));
        y[i++] = key * key * i;
    }
    y[0] += Value().of(*tree);
}
