/* The name of a model is compared without regard to case: tables of characters, which no derivative flows through. */
#include <ctype.h>
#include <string.h>

static int is_named(const char *given, const char *name) {
  char lower[16];
  size_t i;
  for (i = 0; given[i] && i < sizeof lower - 1; i++) lower[i] = (char)tolower((unsigned char)given[i]);
  lower[i] = 0;
  return strcmp(lower, name) == 0 && isupper((unsigned char)given[0]) && toupper('m') == 'M';
}

void model(const double *x, double *y, int n) {
  const char *names[2] = {"Monod", "moser"};
  for (int i = 0; i < n; i++) y[i] = is_named(names[i % 2], "monod") ? x[i] / (1.0 + x[i]) : x[i] * x[i];
}
