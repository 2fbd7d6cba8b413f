// The classic interface: input, length, output; no signature needed. Single precision.
#include <math.h>
#include <stddef.h>

void f(float* inp, size_t n, float* out) {
  for (size_t i = 0; i < n; i++)
    out[i] = inp[i] * sinf(inp[i]);
}
