// A network of layers behind a base class: virtual functions that return vectors and strings, a map from names to scales.

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace {

struct Layer {
  virtual ~Layer() = default;
  virtual std::vector<double> forward(const std::vector<double> &input) const = 0;
  virtual std::string name() const = 0;
  virtual std::string description() const { return "a layer called " + name(); }
};

struct Dense : Layer {
  Dense(const double *weights, int inputs, int outputs) : weights(weights, weights + inputs * outputs), outputs(outputs) {}

  std::vector<double> forward(const std::vector<double> &input) const override {
    std::vector<double> result(outputs);
    for (std::size_t i = 0; i < result.size(); ++i)
      for (std::size_t j = 0; j < input.size(); ++j) result[i] += weights[i * input.size() + j] * input[j];
    return result;
  }

  std::string name() const override { return "dense"; }

  std::vector<double> weights;
  int outputs;
};

struct Softplus : Layer {
  std::vector<double> forward(const std::vector<double> &input) const override {
    std::vector<double> result;
    for (double value : input) result.push_back(std::log1p(std::exp(value)));
    return result;
  }

  std::string name() const override { return "softplus with a name too long for a short string"; }
};

} // namespace

double network_energy(const double *weights, int inputs, int hidden, const double *input) {
  std::vector<std::unique_ptr<Layer>> layers;
  layers.push_back(std::make_unique<Dense>(weights, inputs, hidden));
  layers.push_back(std::make_unique<Softplus>());
  layers.push_back(std::make_unique<Dense>(weights + inputs * hidden, hidden, inputs));

  std::map<std::string, double> scales = {{"dense", 0.5}};
  std::vector<double> values(input, input + inputs);
  for (const auto &layer : layers) {
    values = layer->forward(values);
    const auto scale = scales.find(layer->name());
    if (scale != scales.end())
      for (double &value : values) value *= scale->second;
  }
  double energy = 0;
  for (double value : values) energy += std::tanh(value) * value;
  return energy;
}
