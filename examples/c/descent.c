/* Gradient descent from C, without a line of derivative code: descent path/to/valley.c
 *
 *   cc descent.c -I include -L lib -lffgrad -lm -o descent */

#include <ffgrad.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 4 };

/* Every function of ffgrad returns FFGRAD_OK, or sets `error`. */
static void need(int32_t status, ffgrad_error* error) {
  if (status == FFGRAD_OK) return;
  fprintf(stderr, "ffgrad: %s\n", ffgrad_error_message(error));
  ffgrad_error_free(error);
  exit(1);
}

int main(int argc, char** argv) {
  if (ffgrad_abi_version() != FFGRAD_ABI_VERSION) return fprintf(stderr, "ffgrad.h and libffgrad differ\n"), 1;

  char spec[4096];
  snprintf(spec, sizeof spec, "{\"sources\": [\"%s\"], \"function\": \"valley\", \"signature\": \"x[n] -> return\"}",
           argc > 1 ? argv[1] : "valley.c");
  ffgrad_function f;
  ffgrad_error* error = NULL;
  need(ffgrad_open(spec, &f, &error), error); /* compiles, or finds what was compiled before */

  double x[N] = {-1.2, 1.0, -1.2, 1.0}, value, one = 1.0, gradient[N], momentum[N] = {0};
  const int64_t shape[] = {N};
  const ffgrad_array in = {x, FFGRAD_FLOAT64, 1, shape, NULL};
  const ffgrad_array out = {&value, FFGRAD_FLOAT64, 0, NULL, NULL};
  const ffgrad_array seed = {&one, FFGRAD_FLOAT64, 0, NULL, NULL};
  const ffgrad_array slope = {gradient, FFGRAD_FLOAT64, 1, shape, NULL};

  double norm = INFINITY;
  int step = 0;
  for (; step < 50000 && norm > 1e-8; step++) {
    need(ffgrad_vjp(f, &in, 1, &seed, 1, &slope, 1, 0, &error), error); /* gradient = seed * df/dx */
    norm = 0.0;
    for (int i = 0; i < N; i++) {
      momentum[i] = 0.95 * momentum[i] - 2e-4 * gradient[i];
      x[i] += momentum[i];
      norm = fmax(norm, fabs(gradient[i]));
    }
  }
  need(ffgrad_call(f, &in, 1, 0, &out, 1, &error), error);
  printf("minimum after %d steps: f = %.3g at (%.6f, %.6f, %.6f, %.6f)\n", step, value, x[0], x[1], x[2], x[3]);

  need(ffgrad_close(f, &error), error);
  return !(value < 1e-12);
}
