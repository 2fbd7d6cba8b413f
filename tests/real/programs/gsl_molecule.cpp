// Hückel's energies of a chain of atoms with an orbital's overlap as coupling, and the spectrum of its autocorrelation.
#include <gsl/gsl_eigen.h>
#include <gsl/gsl_fft_real.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_sf_coulomb.h>
#include <vector>

double molecule(const double* distance, int n, double charge) {
  const int atoms = n + 1;
  gsl_matrix *h = gsl_matrix_calloc(atoms, atoms), *states = gsl_matrix_alloc(atoms, atoms);
  gsl_vector* energy = gsl_vector_alloc(atoms);
  for (int i = 0; i < n; i++) {
    double coupling = -gsl_sf_hydrogenicR(2, 1, charge, distance[i]);
    gsl_matrix_set(h, i + 1, i, coupling);
    gsl_matrix_set(h, i, i + 1, coupling);
    gsl_matrix_set(h, i, i, 0.1 * i);
  }
  gsl_eigen_symmv_workspace* work = gsl_eigen_symmv_alloc(atoms);
  gsl_eigen_symmv(h, energy, states, work);
  gsl_eigen_symmv_free(work);
  gsl_eigen_symmv_sort(energy, states, GSL_EIGEN_SORT_VAL_ASC);
  std::vector<double> density(8);
  double total = 0;
  for (int k = 0; k < atoms / 2; k++) {
    total += 2 * gsl_vector_get(energy, k);
    for (int i = 0; i < atoms; i++) density[i] += 2 * gsl_pow_2(gsl_matrix_get(states, i, k));
  }
  gsl_fft_real_radix2_transform(density.data(), 1, density.size());
  for (double part : density) total += 0.1 * part * part;
  gsl_matrix_free(h);
  gsl_matrix_free(states);
  gsl_vector_free(energy);
  return total;
}
