// Functions with containers of the standard library as parameters and results, called by adapters.
#include <array>
#include <cmath>
#include <vector>

namespace ns {
double norm(const std::vector<double>& x, double p) {
  double sum = 0;
  for (double v : x) sum += std::pow(std::fabs(v), p);
  return std::pow(sum, 1 / p);
}
}  // namespace ns

// Neither the parameters' names nor the local ones of the adapter get into each other's way.
static void squares(const std::vector<double>& value, double i, std::vector<double>& squares) {
  for (std::size_t k = 0; k < value.size(); ++k) squares[k] = i * value[k] * value[k];
}

void sines(const std::vector<double>& x, std::vector<double>& y) {
  y.clear();
  for (double v : x) y.push_back(std::sin(v));
}

void appended(const std::vector<double>& x, std::vector<double>& y) {
  for (double v : x) y.push_back(std::sin(v));
}

void step(std::vector<float>& u, float dt) {
  for (std::size_t i = 1; i < u.size(); ++i) u[i] += dt * u[i - 1] * u[i - 1];
}

std::vector<double> matvec(const std::vector<double>& a, const std::vector<double>& x, int m) {
  std::vector<double> y(m);
  for (int i = 0; i < m; ++i)
    for (std::size_t j = 0; j < x.size(); ++j) y[i] += a[i * x.size() + j] * x[j];
  return y;
}

double by_value(std::vector<double> x) {
  double sum = 0;
  for (double& v : x) sum += v *= v;
  return sum;
}

double gathered(const std::vector<double>& x, const std::vector<int>& k) {
  double sum = 0;
  for (int i : k) sum += x[i] * x[i];
  return sum;
}

std::array<double, 3> cross(const std::array<double, 3>& a, std::array<double, 3> b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

double path_length(const std::vector<std::array<double, 2>>& p) {
  double sum = 0;
  for (std::size_t i = 1; i < p.size(); ++i) sum += std::hypot(p[i][0] - p[i - 1][0], p[i][1] - p[i - 1][1]);
  return sum;
}

std::vector<std::vector<double>> outer(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<std::vector<double>> rows(a.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    for (double v : b) rows[i].push_back(a[i] * v);
  return rows;
}

template <class T>
T sum_of_squares(const std::vector<T>& x) {
  T sum = 0;
  for (T v : x) sum += v * v;
  return sum;
}

double overloaded(const std::vector<double>& x) { return x[0] * x[0]; }
double overloaded(const std::vector<float>& x) { return x[0]; }

namespace {
double hidden(const std::vector<double>* x, const double& a) { return a * (*x)[0] * (*x)[1]; }
}  // namespace

double mixed(const std::vector<double>& x, double y[2], int n) {
  y[0] = x[n] * x[0];
  y[1] = x[1];
  return x[0] + x[1];
}

// Vectors of unlike lengths, rows of a table, and an integer that counts none of them.
double expanded(const std::vector<double>& c, const std::vector<double>& x, int power, const std::vector<std::array<double, 2>>& p) {
  double sum = 0;
  for (double at : x) {
    double factor = 1;
    for (int k = 0; k < power; k++) factor *= at;
    for (double each : c) {
      sum += each * factor;
      factor *= at;
    }
  }
  for (const auto& each : p) sum += each[0] * each[1];
  return sum;
}
