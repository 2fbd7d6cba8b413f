// A waiting line as a queue of events, which have a text beside numbers.
#include <queue>
#include <vector>
#include <string>
#include <cstddef>
struct Event { double time; int kind; double load; std::string tag; bool operator<(const Event& o) const { return time > o.time; } };
double queue_cost(const double* rate, size_t n, double service) {
  std::priority_queue<Event> q;
  for (size_t i = 0; i < n; i++) q.push({1.0 / rate[i], 0, rate[i], "arrive" + std::to_string(i)});
  double cost = 0, busy_until = 0;
  while (!q.empty()) {
    Event e = q.top(); q.pop();
    if (e.kind == 0) {
      double start = e.time > busy_until ? e.time : busy_until;
      busy_until = start + service * e.load;
      q.push({busy_until, 1, e.load, "leave"});
      cost += (start - e.time) * e.load;
    } else cost += e.time * e.time;
  }
  return cost;
}
