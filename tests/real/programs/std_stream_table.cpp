// Heat of a flow with a table of coefficients parsed from text by istringstream and split lines.
#include <sstream>
#include <string>
#include <vector>

double enthalpy(const double* fractions, double temperature, int n) {
  const std::string table = "N2 28.9 0.0016\nO2 25.5 0.0152\nCO2 22.2 0.0598\n";
  std::istringstream lines(table);
  double sum = 0.0;
  std::string line;
  for (int i = 0; i < n && std::getline(lines, line); ++i) {
    std::istringstream fields(line);
    std::string name;
    double a = 0.0, b = 0.0;
    fields >> name >> a >> b;
    sum += fractions[i] * (a * temperature + 0.5 * b * temperature * temperature);
  }
  return sum;
}
