/* A ratio that is computed in any case and used only where it is finite: an adjoint of zero times an infinite derivative is no number. */
struct layer {
  double depth, density, mean;
};

static __attribute__((noinline)) void describe(const double *x, struct layer *layer) {
  layer->depth = x[0] > 0 ? x[0] : 0.0;
  layer->density = x[1] * x[1] / layer->depth;
  layer->mean = x[0] * x[1];
}

void unused_ratio(const double *x, double *y, int n) {
  for (int i = 0; i < n; i++) {
    struct layer layer;
    describe(x + 2 * i, &layer);
    y[i] = layer.depth > 0 ? layer.density : layer.mean;
  }
}
