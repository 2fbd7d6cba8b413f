// Two relaxations over paths: lengths of soft shortest paths in a graph, by rounds over its edges (Bellman and Ford's, with a soft minimum), and the
// cheapest path down a grid, row by row (Rodinia's pathfinder).
#include <math.h>
#include <stdlib.h>
#include <string.h>

// The edges that end in vertex v are those from first[v] on; each begins in `from`.
void relax(const double *start, const double *length, const int *from, const int *first, int vertices,
           int rounds, double *distance) {
  double *next = malloc(vertices * sizeof(double));
  memcpy(distance, start, vertices * sizeof(double));
  for (int t = 0; t < rounds; t++) {
#pragma omp parallel for
    for (int v = 0; v < vertices; v++) {
      double least = distance[v];
      for (int e = first[v]; e < first[v + 1]; e++) {
        double over = distance[from[e]] + length[e];
        if (over < least) least = over;
      }
      double sum = exp(-(distance[v] - least));
      for (int e = first[v]; e < first[v + 1]; e++) sum += exp(-(distance[from[e]] + length[e] - least));
      next[v] = least - log(sum);
    }
    memcpy(distance, next, vertices * sizeof(double));
  }
  free(next);
}

static double least_of(double a, double b, double c) {
  double least = a < b ? a : b;
  return c < least ? c : least;
}

void pathfinder(const double *cost, int rows, int cols, double *best) {
  double *next = malloc(cols * sizeof(double));
  memcpy(best, cost, cols * sizeof(double));
  for (int r = 1; r < rows; r++) {
#pragma omp parallel for
    for (int c = 0; c < cols; c++) {
      double west = c > 0 ? best[c - 1] : best[c], east = c + 1 < cols ? best[c + 1] : best[c];
      next[c] = cost[r * cols + c] + least_of(best[c], west, east);
    }
    memcpy(best, next, cols * sizeof(double));
  }
  free(next);
}
