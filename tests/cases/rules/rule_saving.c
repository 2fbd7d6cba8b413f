// Functions with rules on a buffer that a time loop overwrites: what reverse needs is saved.
#include <ffgrad/derivatives.h>
#include <stdlib.h>
#include <string.h>

static double* copy(const double* u, int n) {
  double* saved = malloc(n * sizeof(double));
  memcpy(saved, u, n * sizeof(double));
  return saved;
}

void decay(double* u, int n, double k) {
  for (int i = 0; i < n; i++) u[i] = u[i] * u[i] * k;
}
void decay_fwd(double* u, double* du, int n, double k, double dk) {
  for (int i = 0; i < n; i++) {
    if (du) du[i] = 2 * u[i] * k * du[i] + u[i] * u[i] * dk;
    u[i] = u[i] * u[i] * k;
  }
}
void* decay_save(double* u, int n, double k) {
  double* saved = copy(u, n);
  decay(u, n, k);
  return saved;
}
void decay_rev(double* u, double* du, int n, double k, double* dk, void* kept) {
  double* saved = kept;
  for (int i = 0; i < n; i++) {
    *dk += saved[i] * saved[i] * du[i];
    du[i] *= 2 * saved[i] * k;
  }
  free(saved);
}
FFGRAD_DERIVATIVES_SAVING(decay, decay_fwd, decay_rev, decay_save);

double energy(const double* u, int n) {
  double s = 0;
  for (int i = 0; i < n; i++) s += u[i] * u[i];
  return s;
}
double energy_fwd(const double* u, const double* du, int n, double* ds) {
  *ds = 0;
  for (int i = 0; i < n; i++) *ds += du ? 2 * u[i] * du[i] : 0;
  return energy(u, n);
}
void* energy_save(const double* u, int n, double* s) {
  *s = energy(u, n);
  return copy(u, n);
}
void energy_rev(const double* u, double* du, int n, double ds, void* kept) {
  double* saved = kept;
  for (int i = 0; du && i < n; i++) du[i] += 2 * saved[i] * ds;
  free(saved);
}
FFGRAD_DERIVATIVES_SAVING(energy, energy_fwd, energy_rev, energy_save);

double simulate(const double* x, double k, int n) {
  double* u = copy(x, n);
  double sum = 0;
  for (int t = 0; t < 3; t++) {
    decay(u, n, k);
    sum += energy(u, n);
  }
  free(u);
  return sum;
}
