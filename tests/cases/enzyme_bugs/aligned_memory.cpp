// Matrices in aligned memory of C's, cleared by memset, in a program that catches exceptions; BLAS alone touches their numbers.
#include <cstdlib>
#include <cstring>
#include <stdexcept>

extern "C" void dsyrk_(const char*, const char*, const int*, const int*, const double*, const double*, const int*, const double*, double*,
                       const int*);
extern "C" void dgemv_(const char*, const int*, const int*, const double*, const double*, const int*, const double*, const int*,
                       const double*, double*, const int*);
extern "C" void dcopy_(const int*, const double*, const int*, double*, const int*);

template <typename Number>
void clear(Number* place, std::size_t count) {
  if (count == 0) return;
  std::memset((void*)place, 0, sizeof(Number) * count);
}

class Memory {
 public:
  explicit Memory(int count) : count(count) {
    void* place = nullptr;
    if (posix_memalign(&place, count >= 16 ? 32 : 16, sizeof(double) * count)) throw std::bad_alloc();
    numbers = static_cast<double*>(place);
  }
  Memory(const Memory&) = delete;
  ~Memory() { std::free(numbers); }
  double* numbers;
  int count;
};

static void square(const double* x, int n, Memory& out) {
  if (n <= 0) throw std::invalid_argument("no rows");
  const double one = 1, zero = 0;
  clear(out.numbers, out.count);
  dsyrk_("U", "T", &n, &n, &one, x, &n, &zero, out.numbers, &n);
}

void turned(const double* x, const double* y, int n, double* z) {
  const double one = 1, zero = 0;
  const int step = 1;
  try {
    Memory c(n * n), result(n);
    square(x, n, c);
    clear(result.numbers, n);
    dgemv_("N", &n, &n, &one, c.numbers, &n, y, &step, &zero, result.numbers, &step);
    dcopy_(&n, result.numbers, &step, z, &step);
  } catch (const std::invalid_argument&) {
    clear(z, n);
  }
}
