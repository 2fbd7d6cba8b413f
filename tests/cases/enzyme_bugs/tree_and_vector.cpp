// Objects with a tree or a list, whose last node leads to them, beside members of other types.
#include <cmath>
#include <list>
#include <map>
#include <utility>
#include <vector>

struct Glass {
    std::map<double, double> memo;
    std::vector<std::pair<double, double>> terms;
};

struct Chain {
    double first;
    std::list<std::pair<int, double>> links;
    std::vector<double> lengths;
    int count = 0;
};

static double index_of(Glass &glass, double wave) {
    auto known = glass.memo.find(wave);
    if (known != glass.memo.end()) return known->second;
    double squared = 1;
    for (auto &[b, c] : glass.terms) squared += b * wave / (wave + c);
    return glass.memo[wave] = std::sqrt(squared);
}

extern "C" void tree_and_vector(const double *x, int n, double *y) {
    Glass glass;
    glass.terms = {{1.0, 2.0}, {0.5, 3.0}};
    Chain chain{x[0], {}, {}};
    for (int i = 0; i < n; i++) {
        y[i] = index_of(glass, std::abs(x[i])) + index_of(glass, std::abs(x[0]));
        if (x[i] > 0) chain.links.push_back({i, x[i] * y[i]});
        else chain.links.push_front({i, x[i] - y[i]});
        chain.lengths.push_back(x[i] * chain.first);
        chain.count++;
    }
    int place = 0;
    for (auto &[i, link] : chain.links) y[i] += link * chain.lengths[place++] / chain.count;
}
