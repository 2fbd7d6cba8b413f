/* The C library's `qsort`, which has no source that a derivative could be made of. The order is found on the values alone; then the elements are
 * moved, and their derivatives with them.
 *
 * Source: the C standard, 7.22.5.2 (`qsort`). Elements that compare equal stay in their order, as glibc has it.
 */
#include <ffgrad/derivatives.h>
#include <stdlib.h>
#include <string.h>

FFGRAD_REPLACES(qsort, ffgrad_qsort)

typedef int compare(const void *, const void *);

/* Merges runs of growing length. */
void ffgrad_sorted(size_t *to, const char *base, size_t n, size_t size, compare *by) {
  size_t *other = malloc((n + 1) * sizeof(size_t)), *from = to, *into = other;
  for (size_t i = 0; i < n; i++) to[i] = i;
  for (size_t width = 1; width < n; width *= 2) {
    for (size_t low = 0; low < n; low += 2 * width) {
      size_t middle = low + width < n ? low + width : n, high = middle + width < n ? middle + width : n, i = low, j = middle;
      for (size_t k = low; k < high; k++) {
        int left = i < middle && (j >= high || by(base + from[i] * size, base + from[j] * size) <= 0);
        into[k] = left ? from[i++] : from[j++];
      }
    }
    size_t *swapped = from;
    from = into;
    into = swapped;
  }
  if (from != to) memcpy(to, from, n * sizeof(size_t));
  free(other);
}
/* Indices have no derivative. */
FFGRAD_INACTIVE(ffgrad_sorted);

/* Part of the caller, who knows what the elements are. The length is not constant, though it could be: a copy of so many structures moves the derivatives of
 * their numbers, one of so many bytes only if the type of each byte is known there. */
__attribute__((always_inline)) void ffgrad_qsort(void *base, size_t n, size_t size, compare *by) {
  char *elements = base, *old = malloc(n * size + 1);
  size_t *order = malloc((n + 1) * sizeof(size_t));
  ffgrad_sorted(order, elements, n, size, by);
  for (size_t i = 0; i < n; i++) memcpy(old + i * size, elements + i * size, size);
  for (size_t i = 0; i < n; i++) memcpy(elements + i * size, old + order[i] * size, order[i] < n ? size : 0);
  free(order);
  free(old);
}
