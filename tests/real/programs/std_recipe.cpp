// A recipe in text, read by regular expressions in the usual loops; amounts scale with an input, units do not.
#include <cmath>
#include <map>
#include <regex>
#include <string>
#include <vector>

struct Recipe {
  std::map<std::string, double> units{{"g", 0.001}, {"kg", 1.0}, {"dl", 0.1}};
  std::vector<double> amounts;
  std::map<double, double> memo;
  std::string rest;

  explicit Recipe(std::string text) {
    static const std::regex item("([0-9]+\\.?[0-9]*) *(g|kg|dl)");
    std::smatch found;
    while (std::regex_search(text, found, item)) {
      amounts.push_back(std::stod(found[1]) * units.at(found[2]));
      text = found.suffix();
    }
    rest = text;
  }

  double heat(double at) {
    auto known = memo.find(at);
    if (known != memo.end()) return known->second;
    double sum = 0;
    for (double amount : amounts) sum += amount * std::sqrt(1 + at * amount);
    return memo[at] = sum;
  }
};

double cook(const double* x, int n) {
  Recipe recipe("take 250 g of flour, 1.5 kg of beans, 3 dl of water; stir");
  double total = 0;
  for (int i = 0; i < n; i++) total += recipe.heat(x[i]) * recipe.heat(x[0]) / (i + 1);
  return std::regex_match(recipe.rest, std::regex(".*stir")) ? total : -1.0;
}
