// Packets on a line that collide and merge: a list whose elements are erased.
#include <iterator>
#include <list>

struct Packet {
  double mass, position, velocity;
};

double remaining_energy(const double* mass, const double* velocity, int n) {
  std::list<Packet> packets;
  for (int i = 0; i < n; ++i) packets.push_back({mass[i], double(i), velocity[i]});
  for (int step = 0; step < 8; ++step) {
    for (auto& p : packets) p.position += 0.25 * p.velocity;
    for (auto it = packets.begin(); it != packets.end();) {
      auto next = std::next(it);
      if (next != packets.end() && next->position <= it->position) {
        const double sum = it->mass + next->mass;
        it->velocity = (it->mass * it->velocity + next->mass * next->velocity) / sum;
        it->position = (it->mass * it->position + next->mass * next->position) / sum;
        it->mass = sum;
        packets.erase(next);
      } else {
        ++it;
      }
    }
  }
  double energy = 0.0;
  for (const auto& p : packets) energy += 0.5 * p.mass * p.velocity * p.velocity + 0.01 * p.position;
  return energy;
}
