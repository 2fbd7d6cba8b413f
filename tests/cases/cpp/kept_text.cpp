// Records with a text and numbers, kept in a vector and in a map by text: grown, copied, sorted, erased from.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace {
struct Station {
  std::string name;
  double weight;
  std::vector<double> levels;
};
}  // namespace

extern "C" double weighted_levels(const double* x, int n) {
  std::vector<Station> stations;
  for (int i = 0; i < n; i++)
    stations.push_back({"station number " + std::to_string(i) + " at the upper river", x[i], {x[i], 2.0 * x[i] * x[i]}});
  std::map<std::string, Station> by_name;
  for (const Station& s : stations) by_name[s.name] = s;
  std::vector<Station> kept;
  for (const auto& [name, s] : by_name)
    if (name.find("upper") != std::string::npos) kept.push_back(s);
  kept.erase(kept.begin());
  std::sort(kept.begin(), kept.end(), [](const Station& a, const Station& b) { return a.name > b.name; });
  double sum = 0.0;
  for (const Station& s : kept)
    for (double level : s.levels) sum += s.weight * level * level;
  return sum;
}
