// Integers read as bits of doubles: types that cannot be deduced from the code.
#include <stdint.h>
#include <string.h>

void flip(const double* x, int n, double* y) {
  for (int i = 0; i < n; i++) {
    uint64_t bits;
    memcpy(&bits, x + i, sizeof bits);
    bits ^= (bits >> 3) & 0xff;
    memcpy(y + i, &bits, sizeof bits);
  }
}
