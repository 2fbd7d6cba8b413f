// Travel time of the fastest ray through a grid: Dijkstra's algorithm with a priority_queue.
#include <functional>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

double travel_time(const double* slowness, int rows, int cols) {
  using Entry = std::pair<double, int>;
  std::vector<double> time(rows * cols, std::numeric_limits<double>::infinity());
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  time[0] = 0.0;
  open.emplace(0.0, 0);
  while (!open.empty()) {
    const auto [t, node] = open.top();
    open.pop();
    if (t > time[node]) continue;
    const int r = node / cols, c = node % cols;
    const int neighbours[4][2] = {{r - 1, c}, {r + 1, c}, {r, c - 1}, {r, c + 1}};
    for (const auto& to : neighbours) {
      if (to[0] < 0 || to[0] >= rows || to[1] < 0 || to[1] >= cols) continue;
      const int other = to[0] * cols + to[1];
      const double arrival = t + 0.5 * (slowness[node] + slowness[other]);
      if (arrival < time[other]) {
        time[other] = arrival;
        open.emplace(arrival, other);
      }
    }
  }
  return time[rows * cols - 1];
}
