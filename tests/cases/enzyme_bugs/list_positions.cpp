// Elements that hold an index and a position in a list, moved by a growing vector and by a heap.
#include <algorithm>
#include <list>
#include <utility>
#include <vector>

namespace {

struct Road {
    double length, toll;
};

using Position = std::list<Road>::iterator;

struct Stop {
    long town;
    Position road;
    long rank;
};

bool is_later(const Stop &a, const Stop &b) { return a.rank < b.rank; }

}  // namespace

extern "C" void list_positions(const double *x, int n, double *y) {
    std::list<Road> roads;
    std::vector<std::vector<std::pair<long, Position>>> towns(n);
    for (int i = 0; i < n; i++) {
        roads.push_back({x[i] * x[i], x[i]});
        towns[i].emplace_back((i + 1) % n, std::prev(roads.end()));
        towns[(i + 1) % n].emplace_back(i, std::prev(roads.end()));
        towns[0].emplace_back(i, roads.begin());
    }
    std::vector<Stop> heap;
    for (int i = 0; i < n; i++) {
        for (auto &[to, road] : towns[i]) heap.push_back({to, road, (7 * i + 3 * to) % 11});
    }
    std::make_heap(heap.begin(), heap.end(), is_later);
    std::sort_heap(heap.begin(), heap.end(), is_later);
    for (int i = 0; i < n; i++) y[i] = 0;
    for (const Stop &stop : heap) y[stop.town] += stop.road->length * stop.road->toll + (1 + stop.rank) * stop.road->toll;
}
