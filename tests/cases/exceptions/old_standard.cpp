// Settings from words, by C++14: the destructor of a string lets no exception pass (`throw()`), and a word that is no number is ignored.
#include <map>
#include <stdexcept>
#include <string>

namespace {

class Settings {
  std::map<std::string, double> values_;
  int ignored_ = 0;

 public:
  explicit Settings(const std::string& text) {
    for (std::string::size_type at = 0; at < text.size(); at += 5) {
      const std::string word = text.substr(at + 1, 3);
      try {
        values_[text.substr(at, 1)] = std::stod(word);
      } catch (const std::invalid_argument&) {
        ++ignored_;
      }
    }
  }
  double get(const std::string& name, double otherwise) const {
    const std::map<std::string, double>::const_iterator found = values_.find(name);
    return found == values_.end() ? otherwise : found->second;
  }
  int ignored() const { return ignored_; }
};

double positive(double x) {
  if (x < 0) throw std::domain_error("negative");
  return x * x * x;
}

}  // namespace

extern "C" void old_standard(const double* x, int n, double* y) {
  const Settings settings("a0.5 bbad c2.0 ");
  for (int i = 0; i < n; i++) {
    try {
      y[i] = settings.get("a", 1) * positive(x[i]) + settings.get("d", 0.25) * x[i];
    } catch (const std::domain_error&) {
      y[i] = settings.get("c", 1) * x[i] * x[i] * settings.ignored();
    }
  }
}
