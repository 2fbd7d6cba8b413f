// Settings of several types in one table (std::any), and functions by the type of a setting.
#include <any>
#include <functional>
#include <map>
#include <string>
#include <typeindex>
#include <vector>

namespace {
struct Spring {
    double stiffness, damping;
};
using Polynomial = std::vector<double>;

double force(const std::map<std::string, std::any> &settings, double u) {
    std::map<std::type_index, std::function<double(const std::any &)>> forces;
    forces[typeid(double)] = [u](const std::any &law) { return -std::any_cast<double>(law) * u; };
    forces[typeid(Spring)] = [u](const std::any &law) {
        const auto &spring = std::any_cast<const Spring &>(law);
        return -spring.stiffness * u + spring.damping * u * u;
    };
    forces[typeid(Polynomial)] = [u](const std::any &law) {
        double sum = 0, power = 1;
        for (double c : std::any_cast<const Polynomial &>(law)) {
            sum -= c * power;
            power *= u;
        }
        return sum;
    };
    const std::any &law = settings.at("law");
    const double scale = std::any_cast<const std::string &>(settings.at("name")).size();
    return forces.at(law.type())(law) * scale;
}
}  // namespace

extern "C" void any_settings(const double *x, double *y, int n) {
    for (int i = 0; i < n; i++) {
        std::map<std::string, std::any> settings;
        settings["steps"] = 3 + i % 2;
        settings["name"] = std::string(i % 2 ? "a name that is longer than others" : "short");
        if (i % 3 == 0) settings["law"] = x[i] * x[0];
        if (i % 3 == 1) settings["law"] = Spring{x[i], x[0]};
        if (i % 3 == 2) settings["law"] = Polynomial(x, x + 3);
        double u = x[i];
        for (int step = 0; step < std::any_cast<int>(settings["steps"]); step++) u += 0.01 * force(settings, u);
        y[i] = u;
    }
}
