// Two hanging masses at rest: the minimum of an energy by BFGS, and by the simplex method.
#include <gsl/gsl_multimin.h>

#include <cmath>

namespace {
struct Springs { double stiffness[3], weight[2]; };

double energy(const gsl_vector* height, void* given) {
  const Springs* s = static_cast<const Springs*>(given);
  double a = gsl_vector_get(height, 0), b = gsl_vector_get(height, 1);
  double stretched = s->stiffness[0] * a * a + s->stiffness[1] * (b - a) * (b - a) + s->stiffness[2] * std::pow(b, 4);
  return 0.5 * stretched + s->weight[0] * a + s->weight[1] * b;
}

void forces(const gsl_vector* height, void* given, gsl_vector* slope) {
  const Springs* s = static_cast<const Springs*>(given);
  double a = gsl_vector_get(height, 0), b = gsl_vector_get(height, 1);
  gsl_vector_set(slope, 0, s->stiffness[0] * a - s->stiffness[1] * (b - a) + s->weight[0]);
  gsl_vector_set(slope, 1, s->stiffness[1] * (b - a) + 2.0 * s->stiffness[2] * b * b * b + s->weight[1]);
}

void both(const gsl_vector* height, void* given, double* value, gsl_vector* slope) {
  *value = energy(height, given);
  forces(height, given, slope);
}
}  // namespace

void rest(const double* stiffness, const double* weight, double* height, double* lowest) {
  Springs springs = {{stiffness[0], stiffness[1], stiffness[2]}, {weight[0], weight[1]}};
  gsl_vector* start = gsl_vector_calloc(2);

  gsl_multimin_function_fdf sloped = {energy, forces, both, 2, &springs};
  gsl_multimin_fdfminimizer* fast = gsl_multimin_fdfminimizer_alloc(gsl_multimin_fdfminimizer_vector_bfgs2, 2);
  gsl_multimin_fdfminimizer_set(fast, &sloped, start, 0.05, 0.1);
  for (int i = 0; i < 60; ++i) {
    if (gsl_multimin_fdfminimizer_iterate(fast)) break;
    if (gsl_multimin_test_gradient(fast->gradient, 1e-11) == GSL_SUCCESS) break;
  }
  height[0] = gsl_vector_get(fast->x, 0);
  height[1] = gsl_vector_get(fast->x, 1);
  gsl_multimin_fdfminimizer_free(fast);

  gsl_multimin_function plain = {energy, 2, &springs};
  gsl_multimin_fminimizer* simplex = gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, 2);
  gsl_vector* steps = gsl_vector_alloc(2);
  gsl_vector_set_all(steps, 0.3);
  gsl_multimin_fminimizer_set(simplex, &plain, start, steps);
  for (int i = 0; i < 200; ++i) {
    if (gsl_multimin_fminimizer_iterate(simplex)) break;
    if (gsl_multimin_test_size(gsl_multimin_fminimizer_size(simplex), 1e-10) == GSL_SUCCESS) break;
  }
  *lowest = gsl_multimin_fminimizer_minimum(simplex);
  gsl_multimin_fminimizer_free(simplex);
  gsl_vector_free(steps);
  gsl_vector_free(start);
}
