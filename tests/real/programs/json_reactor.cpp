// A stirred reactor whose fixed settings are read from a JSON document by nlohmann's library.
#include <cmath>
#include <nlohmann/json.hpp>

double conversion(const double* feed, int n) {
  const auto settings = nlohmann::json::parse(R"({"volume": 1.5, "rate": {"factor": 40.0, "energy": 2.5}, "steps": 12})");
  const double factor = settings["rate"]["factor"].get<double>();
  const double energy = settings["rate"]["energy"].get<double>();
  const double volume = settings.value("volume", 1.0);
  const int steps = settings.at("steps").get<int>();
  double total = 0.0;
  for (int i = 0; i < n; ++i) {
    double c = feed[i];
    for (int s = 0; s < steps; ++s) c += 0.05 * ((feed[i] - c) / volume - factor * std::exp(-energy - c) * c);
    total += 1.0 - c / feed[i];
  }
  return total / n;
}
