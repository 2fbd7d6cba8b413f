// memset of an output that is then added to: assembly of element vectors into nodes.
#include <string.h>

void assemble(const double* element, int n, double* node) {
  memset(node, 0, (size_t)(n + 1) * sizeof(double));
  for (int e = 0; e < n; e++) {
    node[e] += 0.5 * element[e] * element[e];
    node[e + 1] += element[e] - 0.5 * element[e] * element[e];
  }
}
