// A table read from text: C strings as keys beside numbers, in an array of structures that grows by realloc, held by a class.
#include <cmath>
#include <cstdlib>
#include <cstring>

struct Constituent {
  char name[8];
  double speed, amplitude, phase;
};

class Table {
  Constituent* all_ = nullptr;
  int count_ = 0, room_ = 0;

  void grow() {
    if (count_ < room_) return;
    room_ = room_ ? 2 * room_ : 2;
    all_ = static_cast<Constituent*>(std::realloc(all_, room_ * sizeof(Constituent)));
  }

 public:
  ~Table() { std::free(all_); }
  void read(const char* text, const double* values) {
    char* copy = strdup(text);
    for (char* word = std::strtok(copy, " "); word; word = std::strtok(nullptr, " ")) {
      grow();
      Constituent* next = all_ + count_;
      std::strncpy(next->name, word, sizeof next->name - 1);
      next->name[sizeof next->name - 1] = 0;
      next->speed = std::atof(std::strtok(nullptr, " "));
      next->amplitude = values[2 * count_];
      next->phase = values[2 * count_ + 1];
      count_++;
    }
    std::free(copy);
  }
  double height(double t) const {
    double sum = 0;
    for (int i = 0; i < count_; i++)
      sum += all_[i].amplitude * std::cos(all_[i].speed * t - all_[i].phase) * (std::strcmp(all_[i].name, "M2") ? 1 : 2);
    return sum;
  }
};

void growing_table(const double* x, const double* t, double* y, int n) {
  Table table;
  table.read("M2 0.5059 S2 0.5236 K1 0.2625 O1 0.2434 N2 0.4964", x);
  for (int i = 0; i < n; i++) y[i] = table.height(t[i]);
}
