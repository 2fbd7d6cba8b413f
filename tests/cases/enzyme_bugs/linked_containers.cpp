// Numbers in a std::list, as keys and values of trees, inserted, moved and erased where values say so.
#include <list>
#include <map>
#include <set>

extern "C" void linked_containers(const double *x, int n, double *y) {
    std::list<double> list, small;
    for (int i = 0; i < n; i++) {
        if (x[i] > 0) list.push_back(x[i] * x[i]);
        else small.push_front(x[i]);
    }
    list.splice(list.begin(), small);
    list.erase(list.begin());
    std::multiset<double> window;
    std::map<int, double> sums;
    int i = 0;
    for (double v : list) {
        window.insert(v);
        if (window.size() > 3) window.erase(window.begin());
        sums[i % 3] += v * *window.begin() * *window.rbegin();
        y[i++] = v * v + list.size();
    }
    for (auto each = sums.begin(); each != sums.end();) {
        if (each->second < 0) each = sums.erase(each);
        else ++each;
    }
    double rest = 0;
    for (auto [key, sum] : sums) rest += sum * (key + 1);
    for (; i < n; i++) y[i] = rest + sums.size();
}
