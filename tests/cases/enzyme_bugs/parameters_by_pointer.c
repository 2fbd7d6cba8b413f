// A recursive function reads its parameters through a global pointer: no argument of its calls is active.
typedef struct { const double *rates; int count; } Model;
static const Model *model;

static double decay(int depth) {
  if (depth == 0) return model->rates[0];
  return 0.5 * decay(depth - 1) + 0.1 * model->rates[depth % model->count] * model->rates[1];
}

void parameters_by_pointer(const double *rates, int count, const double *x, int n, double *y) {
  Model own = {rates, count};
  model = &own;
  for (int i = 0; i < n; i++) y[i] = decay(5) + 1000.0 * x[i] * x[i];
}
