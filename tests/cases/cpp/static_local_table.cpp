// A table that the first call fills, behind a guard: Enzyme's shadow of it belongs to that call alone.
#include <cmath>
#include <string>
#include <vector>

struct Term {
    std::string name;
    std::vector<double> weights;
};

static const std::vector<Term> &terms() {
    static const std::vector<Term> all = [] {
        std::vector<Term> made;
        for (int k = 0; k < 4; k++) {
            Term term{"a term with a long name " + std::to_string(k), {}};
            for (int j = 0; j <= k; j++) term.weights.push_back(1.0 / (1 + j + k));
            made.push_back(term);
        }
        return made;
    }();
    return all;
}

extern "C" double static_local_table(const double *x, int n) {
    static const std::vector<double> powers{1.0, 0.5, 0.25};
    double sum = 0;
    for (int i = 0; i < n; i++) {
        const Term &term = terms()[i % 4];
        for (std::size_t j = 0; j < term.weights.size(); j++) sum += term.weights[j] * std::sin(x[i] * (1.0 + j));
        sum += powers[i % 3] * x[i] * x[i];
    }
    return sum;
}
