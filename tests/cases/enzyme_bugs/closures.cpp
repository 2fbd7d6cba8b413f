// Function objects in containers whose closures have captured numbers, addresses and vectors: libstdc++ would keep the small ones in one place.
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

extern "C" void closures(const double *x, int n, double *y) {
    std::vector<std::function<double(double)>> steps;
    for (int i = 0; i < n; i++) {
        double factor = x[i];
        std::vector<double> kept(x, x + i + 1);
        if (factor < 0) steps.push_back([factor](double v) { return v * factor; });
        else if (i % 2) steps.push_back([x, i](double v) { return v + x[i] * x[i]; });
        else steps.push_back([kept](double v) { return v - kept.back() * kept.front(); });
    }
    std::map<std::string, std::function<double(double)>> named;
    named["library"] = static_cast<double (*)(double)>(std::cos);
    named["own"] = [first = x[0]](double v) { return first * v; };
    for (int i = 0; i < n; i++) {
        double v = x[i];
        for (const auto &step : steps) v = step(v);
        y[i] = v + named["library"](v) * named["own"](x[i]);
    }
}
