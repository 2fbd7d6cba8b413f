// What the standard library throws: `at` of vector, map and string, `value` of optional, and text that is no number.
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

extern "C" double library_throws(const double* x, int n) {
  std::vector<std::string> numbers = {"1.5", "none", "-2"};
  std::vector<double> values(x, x + n);
  std::map<int, double> even;
  std::string letters = "abc";
  for (int i = 0; i < n; i += 2) even[i] = x[i] * x[i];
  double sum = 0;
  for (int i = 0; i < n; i++) {
    std::optional<double> positive;
    if (x[i] > 0) positive = x[i] * x[i] * x[i];
    try {
      sum += values.at(x[i] > 0.3 ? i + n : i) * x[i];
    } catch (const std::out_of_range&) {
      sum += 2 * x[i];
    }
    try {
      sum += even.at(i) * (letters.at(i) - 'a' + 1);
    } catch (const std::logic_error&) {
      sum += x[i];
    }
    try {
      sum += positive.value() * std::stod(numbers[i % 3]);
    } catch (const std::bad_optional_access&) {
      sum -= x[i];
    } catch (const std::invalid_argument&) {
      sum += 0.25 * x[i] * x[i];
    }
  }
  return sum;
}
