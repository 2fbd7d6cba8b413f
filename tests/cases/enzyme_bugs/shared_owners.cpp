// Materials that several layers own together, exchanged where values say so, and an atomic counter: libstdc++'s counts of owners, inlined in each copy.
#include <atomic>
#include <memory>
#include <vector>

namespace {

struct Material {
  double stiffness, mass;
};

struct Layer {
  std::shared_ptr<Material> material;
  double thickness;
};

}  // namespace

/// The energy of layers on top of each other, of which the soft ones share the material of the layer below; `energies` are their own.
double shared_owners(const double *stiffness, const double *thickness, int n, double *energies) {
  std::vector<Layer> layers;
  std::atomic<int> soft{0};
  for (int i = 0; i < n; i++) {
    auto material = std::make_shared<Material>(Material{stiffness[i], 0.5 * stiffness[i] * thickness[i]});
    layers.push_back({material, thickness[i]});
    if (i > 0 && stiffness[i] < stiffness[i - 1]) {
      layers[i].material = layers[i - 1].material;
      soft.fetch_add(1);
    }
  }
  std::shared_ptr<Material> heaviest = layers[0].material;
  for (const Layer layer : layers) {
    if (layer.material->mass > heaviest->mass) heaviest = layer.material;
  }
  double sum = 0;
  for (int i = 0; i < n; i++) {
    energies[i] = layers[i].material->stiffness * layers[i].thickness * layers[i].thickness + soft * heaviest->mass;
    sum += energies[i] * (i + 1);
  }
  return sum;
}
