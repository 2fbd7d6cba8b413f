// Standard exceptions with built messages, caught by type, by base class and by `...`; destructors run on the way.
#include <stdexcept>
#include <string>
#include <vector>

struct Count {
  double& total;
  double by;
  Count(double& total, double by) : total(total), by(by) { total += by; }
  ~Count() { total -= 0.5 * by * by; }
};

static __attribute__((noinline)) double checked(double u, int i) {
  if (u < -0.6) throw std::domain_error("element " + std::to_string(i) + " is " + std::to_string(u));
  if (u < -0.2) throw std::out_of_range("element " + std::to_string(i));
  if (u > 0.7) throw 7;
  return u * u;
}

static __attribute__((noinline)) double counted(double u, int i, double& total) {
  Count count(total, u);
  std::vector<double> copy(3, u);
  return checked(copy[i % 3], i) * total;
}

extern "C" double caught_message(const double* x, int n) {
  double sum = 0, total = 1;
  for (int i = 0; i < n; i++) {
    try {
      sum += counted(x[i], i, total);
    } catch (const std::domain_error& e) {
      sum += x[i] * (e.what()[0] == 'e' ? total : 100);
    } catch (const std::exception&) {
      sum += 3 * x[i];
    } catch (...) {
      sum -= x[i] * x[i] * x[i];
    }
  }
  return sum + total;
}
