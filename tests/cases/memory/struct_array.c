// A heap array of structs with mixed members (int and double): a weighted path length.
#include <math.h>
#include <stdlib.h>

struct edge {
  int from, to;
  double length;
};

double path_length(const double* xy, int n) {
  struct edge* edges = malloc((size_t)(n - 1) * sizeof *edges);
  for (int i = 0; i + 1 < n; i++) {
    double dx = xy[2 * i + 2] - xy[2 * i], dy = xy[2 * i + 3] - xy[2 * i + 1];
    edges[i] = (struct edge){i, i + 1, sqrt(dx * dx + dy * dy)};
  }
  double total = 0.0;
  for (int i = 0; i + 1 < n; i++)
    total += edges[i].length * (edges[i].from + edges[i].to);
  free(edges);
  return total;
}
