// Maps with integers, strings and pairs as keys.
#include <cmath>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

double binned_likelihood(const double* energy, double width, int n) {
  std::map<int, double> bins;
  for (int i = 0; i < n; ++i) {
    const int bin = static_cast<int>(std::floor(energy[i]));
    bins[bin] += std::exp(-std::pow((energy[i] - bin - 0.5) / width, 2));
  }
  double sum = 0.0;
  for (const auto& [bin, content] : bins) sum += (bin + 1) * std::log(1.0 + content);
  return sum;
}

double growth(const double* given, int n) {
  std::map<std::string, double> parameters{{"rate", given[0]}, {"capacity", given[1]}, {"harvest", given[2]}};
  parameters["start"] = 0.1 * parameters.at("capacity");
  double population = parameters["start"];
  for (int i = 0; i < n; ++i)
    population += 0.1 * (parameters.at("rate") * population * (1.0 - population / parameters.at("capacity")) -
                         parameters.at("harvest") * population);
  return population;
}

double molecule_mass(const double* masses, int n) {
  static const char* const symbols[] = {"H", "C", "N", "O"};
  std::unordered_map<std::string, double> table;
  for (int i = 0; i < 4; ++i) table.emplace(symbols[i], masses[i]);
  const std::unordered_map<std::string, int> formula{{"C", 8}, {"H", 10}, {"N", 4}, {"O", n}};
  double mass = 0.0;
  for (const auto& entry : formula) mass += entry.second * table.at(entry.first);
  return std::log(mass) * table["C"];
}

void sparse_product(const double* values, const double* x, double* y, int n) {
  std::map<std::pair<int, int>, double> a;
  for (int i = 0; i < n; ++i) {
    a[{i, i}] = values[i];
    a[{i, (i + 2) % n}] += 0.5 * values[i] * values[i];
  }
  for (int i = 0; i < n; ++i) y[i] = 0.0;
  for (const auto& [place, value] : a) y[place.first] += value * x[place.second];
}
