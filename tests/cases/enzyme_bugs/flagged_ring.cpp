// A ring of nodes with bit-fields beside numbers, as triangulations keep them (earcut): a flag that values set is an `or` of a word without a type.
#include <cstdint>
#include <memory>
#include <vector>

namespace {

struct Node {
  double x, y;
  Node *next = nullptr;
  std::uint32_t index : 31;
  std::uint32_t is_flagged : 1;

  Node(std::uint32_t i, double x, double y) : x(x), y(y), index(i), is_flagged(0) {}
};

}  // namespace

/// The area of a closed polygon by the shoelace formula, where edges that lead to the left count half.
double flagged_ring(const double *points, int n) {
  std::vector<std::unique_ptr<Node>> ring;
  for (int i = 0; i < n; i++) ring.push_back(std::make_unique<Node>(i, points[2 * i], points[2 * i + 1]));
  for (int i = 0; i < n; i++) ring[i]->next = ring[(i + 1) % n].get();
  for (auto &node : ring) {
    if (node->x > node->next->x) node->is_flagged = true;
  }
  double sum = 0;
  const Node *node = ring[0].get();
  do {
    const double twice = node->x * node->next->y - node->next->x * node->y;
    sum += (node->is_flagged ? 0.5 : 1) * twice * (1 + 0.1 * node->index);
    node = node->next;
  } while (node != ring[0].get());
  return sum / 2;
}
