// Error paths as in Boost: templates that build a message from streams and throw. No derivative is asked of them.
#include <cmath>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>

template <class E, class T>
void raise(const char* function, const char* message, const T& value) {
  std::stringstream text;
  text.precision(17);
  text << function << ": " << message << ", but got " << value;
  std::string all = text.str();
  for (std::string::size_type at; (at = all.find("%1%")) != std::string::npos;) all.replace(at, 3, "double");
  throw E(all);
}

template <class T>
T domain_error(const char* function, const T& value) {
  raise<std::domain_error, T>(function, "%1% must be positive", value);
  return NAN;
}

extern "C" double error_path(const double* x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    if (x[i] <= -5) return domain_error("error_path<%1%>", x[i]);
    sum += std::log(x[i] + 5) * x[i];
    if (!(std::fabs(sum) < 1e100)) {
      std::cerr << "diverged: " << sum << std::endl;
      std::abort();
    }
  }
  return sum;
}
