// Two C files, this one: calls into two_files_rates.c, in a loop.
double arrhenius(double temperature, double energy);

void reaction_rates(const double* temperature, const double* energy, int n, double* rate) {
  for (int i = 0; i < n; i++) rate[i] = arrhenius(temperature[i], energy[i]) * temperature[i];
}
