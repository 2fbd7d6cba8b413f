// Records that mix an integer and numbers, in a vector that grows, loses and gets some in between; another one that is sorted.
#include <algorithm>
#include <vector>

struct Record {
    int id;
    double key, value;
};

extern "C" void records(const double *x, int n, double *y) {
    std::vector<Record> all;
    for (int i = 0; i < n; i++) {
        Record one{i, x[i], x[i] * x[i]};
        if (i % 3 == 2) all.insert(all.begin() + 1, one);
        else all.push_back(one);
    }
    Record first = all.front();
    all.erase(all.begin());
    all.push_back(first);
    for (int i = 0; i < n; i++) y[i] = all[i].value * all[i].key + all[i].id;
}

extern "C" void sorted_records(const double *x, int n, double *y) {
    std::vector<Record> all(n);
    for (int i = 0; i < n; i++) all[i] = {i, x[i], x[i] * x[i]};
    std::sort(all.begin(), all.end(), [](const Record &a, const Record &b) { return a.key < b.key; });
    for (int i = 0; i < n; i++) y[i] = all[i].value * all[i].key + all[i].id;
}
