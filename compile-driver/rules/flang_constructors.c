/* flang's runtime functions for array constructors whose extent is not written down (`[t, x]`, `[b, x(i)]`), as loops that Enzyme can
 * differentiate.
 *
 * Source: Fortran 2018 (ISO/IEC 1539-1:2018), 7.8 (array constructors). flang gives memory for a constructor's state, 80 bytes, which is
 * used by these functions alone; memory for the values doubles when it is full, as in the library.
 */
#include <ffgrad/derivatives.h>
#include <ffgrad/flang.h>

FFGRAD_REPLACES(_FortranAInitArrayConstructorVector, ffgrad_flang_constructor_init)
FFGRAD_REPLACES(_FortranAPushArrayConstructorValue, ffgrad_flang_constructor_push)
FFGRAD_REPLACES(_FortranAPushArrayConstructorSimpleScalar, ffgrad_flang_constructor_push_scalar)

typedef struct {
  flang_box *to;
  /* Values so far, and how many there is memory for. */
  int64_t count, room;
} flang_constructor;

/* Memory and bounds for more values. */
FLANG_INLINE void make_room(flang_constructor *made, int64_t more) {
  flang_box *to = made->to;
  int64_t needed = made->count + more, size = (int64_t)to->size;
  if (!to->base) {
    if (to->dim[0].extent < needed) to->dim[0].extent = needed;
    to->dim[0].lower = 1;
    made->room = to->dim[0].extent;
    flang_allocate(to);
  } else if (made->room < needed) {
    char *old = to->base;
    flang_box fixed;
    flang_fix(&fixed, to);
    int64_t room = needed > 2 * made->room ? needed : 2 * made->room;
    char *grown = malloc((size_t)(room * size));
    for (int64_t k = 0; k < made->count; k++) flang_copy_element(&fixed, grown + k * size, old + k * size);
    free(old);
    to->base = grown;
    made->room = room;
    to->dim[0].extent = needed;
  } else if (to->dim[0].extent < needed) {
    to->dim[0].extent = needed;
  }
}

FLANG_RULE void ffgrad_flang_constructor_init(flang_constructor *made, flang_box *to, bool lengths, const char *file,
                                              int line) {
  if (!flang_is_number(to)) ffgrad_flang_refuse();
  made->to = to;
  made->count = 0;
  made->room = to->base ? to->dim[0].extent : 0;
}

FLANG_RULE void ffgrad_flang_constructor_push(flang_constructor *made, const flang_box *from) {
  flang_box *to = made->to;
  int64_t more = flang_elements(from), size = (int64_t)to->size;
  make_room(made, more);
  flang_box target, source;
  flang_fix(&target, to);
  flang_fix(&source, from);
  char *next = target.base + made->count * size;
  for (int64_t k = 0; k < more; k++) flang_copy_element(&target, next + k * size, source.base + flang_offset(&source, k));
  made->count += more;
}

FLANG_RULE void ffgrad_flang_constructor_push_scalar(flang_constructor *made, const char *from) {
  flang_box *to = made->to;
  make_room(made, 1);
  flang_copy_element(to, to->base + made->count * (int64_t)to->size, from);
  made->count++;
}
