// A search tree whose nodes are leaves with a range of points or splits with a plane, in a union, as nanoflann has them.
#include <algorithm>
#include <cstddef>
#include <deque>
#include <numeric>
#include <vector>

namespace {

struct Node {
  union {
    struct {
      std::size_t begin, end;
    } leaf;
    struct {
      int axis;
      double low, high;
    } split;
  } is;
  Node *left = nullptr, *right = nullptr;
};

class Tree {
 public:
  Tree(const double *points, int n) : points(points), order(n) {
    std::iota(order.begin(), order.end(), 0);
    root = divide(0, n, 0);
  }

  /// The nearest point; its squared distance goes to `best`.
  int nearest(const double *to, double &best) const {
    int found = 0;
    best = 1e300;
    search(root, to, found, best);
    return found;
  }

 private:
  Node *divide(std::size_t begin, std::size_t end, int axis) {
    nodes.emplace_back();
    Node *node = &nodes.back();
    if (end - begin <= 2) {
      node->is.leaf.begin = begin;
      node->is.leaf.end = end;
      return node;
    }
    std::sort(order.begin() + begin, order.begin() + end,
              [&](int a, int b) { return points[2 * a + axis] < points[2 * b + axis]; });
    const std::size_t middle = (begin + end) / 2;
    node->is.split.axis = axis;
    node->is.split.low = points[2 * order[middle - 1] + axis];
    node->is.split.high = points[2 * order[middle] + axis];
    node->left = divide(begin, middle, 1 - axis);
    node->right = divide(middle, end, 1 - axis);
    return node;
  }

  void search(const Node *node, const double *to, int &found, double &best) const {
    if (!node->left) {
      for (std::size_t i = node->is.leaf.begin; i < node->is.leaf.end; i++) {
        const double *p = points + 2 * order[i];
        const double d = (p[0] - to[0]) * (p[0] - to[0]) + (p[1] - to[1]) * (p[1] - to[1]);
        if (d < best) best = d, found = order[i];
      }
      return;
    }
    const double at = to[node->is.split.axis], low = at - node->is.split.low, high = node->is.split.high - at;
    const bool is_left = low < high;
    search(is_left ? node->left : node->right, to, found, best);
    const double away = is_left ? high : low;
    if (away < 0 || away * away < best) search(is_left ? node->right : node->left, to, found, best);
  }

  const double *points;
  std::vector<int> order;
  std::deque<Node> nodes;
  Node *root;
};

}  // namespace

/// Values at places, from the nearest of n points: its value over one and the squared distance.
double union_nodes(const double *points, const double *values, int n, const double *places, int m, double *at) {
  const Tree tree(points, n);
  double sum = 0;
  for (int i = 0; i < m; i++) {
    double squared;
    const int nearest = tree.nearest(places + 2 * i, squared);
    at[i] = values[nearest] / (1 + squared);
    sum += at[i] * (i + 1);
  }
  return sum;
}
