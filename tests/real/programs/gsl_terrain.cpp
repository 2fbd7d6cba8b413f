// Heights and slopes on a terrain: a bicubic surface through a grid.
#include <gsl/gsl_interp2d.h>
#include <gsl/gsl_spline2d.h>
#include <cmath>
#include <vector>

void terrain(const double* height, const double* x, const double* y, int n, double* result) {
  const int columns = 5, rows = 4;
  std::vector<double> across(columns), along(rows), z(columns * rows);
  for (int i = 0; i < columns; i++) across[i] = i;
  for (int j = 0; j < rows; j++) along[j] = 1.5 * j;
  gsl_spline2d* surface = gsl_spline2d_alloc(gsl_interp2d_bicubic, columns, rows);
  gsl_interp_accel *xa = gsl_interp_accel_alloc(), *ya = gsl_interp_accel_alloc();
  for (int i = 0; i < columns; i++)
    for (int j = 0; j < rows; j++) gsl_spline2d_set(surface, z.data(), i, j, height[j * columns + i]);
  gsl_spline2d_init(surface, across.data(), along.data(), z.data(), columns, rows);
  for (int k = 0; k < n; k++) {
    double dx = gsl_spline2d_eval_deriv_x(surface, x[k], y[k], xa, ya);
    double dy = gsl_spline2d_eval_deriv_y(surface, x[k], y[k], xa, ya);
    result[k] = gsl_spline2d_eval(surface, x[k], y[k], xa, ya) + std::hypot(dx, dy);
  }
  gsl_spline2d_free(surface);
  gsl_interp_accel_free(xa);
  gsl_interp_accel_free(ya);
}
