// Keeps numbers beside text in the nodes of a std::map, whose memory Enzyme takes for two types at once.
#include <map>
#include <string>

static double &cell(std::map<std::string, double> &cells, int i) {
  return cells[std::to_string(i)];
}

extern "C" void reverse(const double *x, int n, double *y) {
  std::map<std::string, double> cells;
  for (int i = 0; i < n; i++) cell(cells, i) = x[i] * x[i];
  for (int i = 0; i < n; i++) y[i] = cell(cells, n - 1 - i);
}
