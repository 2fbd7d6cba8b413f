/* Array descriptors of flang 22, for rules that stand in for its runtime library.
 *
 * The layout is that of ISO_Fortran_binding.h (Fortran 2018, 18.5): a head, then lower bound, extent and stride in bytes
 * for each dimension. Everything here is inlined: once the optimiser sees the type code that the caller stored, one
 * branch is left, and Enzyme sees loops over numbers.
 */
#ifndef FFGRAD_FLANG_H
#define FFGRAD_FLANG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define FLANG_INLINE static inline __attribute__((always_inline))
#define FLANG_RULE __attribute__((always_inline))

/* Over the dimensions, unrolled: with constant subscripts descriptors become plain values. Arrays with more are left to the
 * library. */
#define FLANG_RANK 7
#define FLANG_EACH(d, rank) _Pragma("clang loop unroll(full)") for (int d = 0; d < FLANG_RANK; d++) if (d < (rank))

enum { FLANG_OTHER = 0, FLANG_POINTER = 1, FLANG_ALLOCATABLE = 2 };
enum { FLANG_FLOAT = 27, FLANG_DOUBLE = 28, FLANG_FLOAT_COMPLEX = 34, FLANG_DOUBLE_COMPLEX = 35 };
enum { FLANG_BOOL = 39, FLANG_CHARACTER = 40, FLANG_INTEGERS = 24, FLANG_OBJECT = 42 };
enum { FLANG_VERSION = 20240719, FLANG_STAT_UNALLOCATED = 1 };

/* Stands for what these rules leave to the library: elements that are no numbers, and more dimensions than FLANG_RANK. The
 * primal always calls the library; in a derivative none of these calls may be left, or it is refused. */
__attribute__((noreturn)) void ffgrad_flang_refuse(void);

typedef struct {
  int64_t lower, extent, stride;
} flang_dim;

typedef struct {
  char *base;
  uint64_t size;
  int32_t version;
  uint8_t rank;
  int8_t type;
  uint8_t attribute;
  uint8_t extra;
  flang_dim dim[15];
} flang_box;

/* What copies an allocatable component of this rank, of numbers of one type. */
typedef void flang_component_copy(flang_box *to, const flang_box *from, int8_t type, uint64_t size, uint8_t rank);

/* Default initialisation of so many objects of a type at `base`, the end of what their components own, and copies of their components: expanded by the
 * worker (`derived_types.rs`) where the type is a constant, and else refused: calls on two branches stay two. */
__attribute__((nomerge)) void ffgrad_flang_create(void *base, const void *type, int64_t elements);
__attribute__((nomerge)) void ffgrad_flang_destroy(void *base, const void *type, int64_t elements);
__attribute__((nomerge)) void ffgrad_flang_copy(void *base, const void *type, int64_t elements, const void *from,
                                                flang_component_copy *component);

/* The beginning of a description of a derived type (Fortran's `__fortran_type_info`). */
typedef struct {
  char other[88];
  uint64_t size;
} flang_object_type;

FLANG_INLINE bool flang_is_integer(int8_t type) {
  return (type >= 1 && type <= FLANG_INTEGERS) || type == FLANG_BOOL;
}

/* Whether elements of this type are numbers that a loop can copy. */
FLANG_INLINE bool flang_is_number(const flang_box *box) {
  int8_t t = box->type;
  if (box->rank > FLANG_RANK) return false;
  return t == FLANG_FLOAT || t == FLANG_DOUBLE || t == FLANG_FLOAT_COMPLEX || t == FLANG_DOUBLE_COMPLEX ||
         (flang_is_integer(t) && box->size <= 8);
}

/* Whether elements are objects of a derived type. */
FLANG_INLINE bool flang_is_object(const flang_box *box) { return box->type == FLANG_OBJECT && box->rank <= FLANG_RANK; }

/* Whether it is one text, of characters of a byte. */
FLANG_INLINE bool flang_is_text(const flang_box *box) { return box->type == FLANG_CHARACTER && box->rank == 0; }

/* Where a descriptor names the derived type: behind the dimensions. */
FLANG_INLINE const void **flang_type(flang_box *box) { return (const void **)&box->dim[box->rank]; }

FLANG_INLINE int64_t flang_elements(const flang_box *box) {
  int64_t count = 1;
  FLANG_EACH(d, box->rank) count *= box->dim[d].extent;
  return count;
}

FLANG_INLINE bool flang_is_contiguous(const flang_box *box) {
  int64_t step = (int64_t)box->size;
  bool whole = true;
  FLANG_EACH(d, box->rank) {
    if (box->dim[d].extent != 1 && box->dim[d].stride != step) whole = false;
    step *= box->dim[d].extent;
  }
  return whole || flang_elements(box) == 0;
}

/* Bytes from the first element to element k in array element order. */
FLANG_INLINE int64_t flang_offset(const flang_box *box, int64_t k) {
  int64_t offset = 0;
  FLANG_EACH(d, box->rank) {
    int64_t extent = box->dim[d].extent;
    if (d + 1 == box->rank) {
      offset += k * box->dim[d].stride;
    } else {
      offset += k % extent * box->dim[d].stride;
      k /= extent;
    }
  }
  return offset;
}

/* One element, by the type of `to`. */
FLANG_INLINE void flang_copy_element(const flang_box *to, char *target, const char *source) {
  switch (to->type) {
    case FLANG_DOUBLE: *(double *)target = *(const double *)source; break;
    case FLANG_FLOAT: *(float *)target = *(const float *)source; break;
    case FLANG_DOUBLE_COMPLEX:
      ((double *)target)[0] = ((const double *)source)[0];
      ((double *)target)[1] = ((const double *)source)[1];
      break;
    case FLANG_FLOAT_COMPLEX:
      ((float *)target)[0] = ((const float *)source)[0];
      ((float *)target)[1] = ((const float *)source)[1];
      break;
    default:
      switch (to->size) {
        case 1: *(int8_t *)target = *(const int8_t *)source; break;
        case 2: *(int16_t *)target = *(const int16_t *)source; break;
        case 4: *(int32_t *)target = *(const int32_t *)source; break;
        case 8: *(int64_t *)target = *(const int64_t *)source; break;
      }
  }
}

/* A copy of what matters of a descriptor: what is stored through its address might change the descriptor itself, for all that the
 * optimiser knows. */
FLANG_INLINE void flang_fix_as(flang_box *copy, const flang_box *box, uint8_t rank) {
  copy->base = box->base;
  copy->size = box->size;
  copy->rank = rank;
  copy->type = box->type;
  FLANG_EACH(d, rank) copy->dim[d] = box->dim[d];
}
FLANG_INLINE void flang_fix(flang_box *copy, const flang_box *box) { flang_fix_as(copy, box, box->rank); }

/* All elements of `from` (or its only one, for a scalar) to those of `to`, which is as large and overlaps it nowhere. */
FLANG_INLINE void flang_copy_ranks(const flang_box *target, const flang_box *source, int8_t type, uint64_t bytes, uint8_t rank,
                                   uint8_t source_rank) {
  flang_box fixed[2];
  const flang_box *to = &fixed[0], *from = &fixed[1];
  flang_fix_as(&fixed[0], target, rank);
  flang_fix_as(&fixed[1], source, source_rank);
  fixed[0].type = type;
  fixed[0].size = bytes;
  int64_t count = flang_elements(to);
  int64_t size = (int64_t)to->size;
  bool scalar = from->rank == 0;
  const bool is_whole = target->attribute == FLANG_ALLOCATABLE; /* no section */
  if ((is_whole || flang_is_contiguous(to)) && (scalar || flang_is_contiguous(from))) {
    for (int64_t k = 0; k < count; k++) flang_copy_element(to, to->base + k * size, from->base + (scalar ? 0 : k * size));
  } else {
    for (int64_t k = 0; k < count; k++)
      flang_copy_element(to, to->base + flang_offset(to, k), from->base + (scalar ? 0 : flang_offset(from, k)));
  }
}
FLANG_INLINE void flang_copy_as(const flang_box *target, const flang_box *source, int8_t type, uint64_t bytes) {
  flang_copy_ranks(target, source, type, bytes, target->rank, source->rank);
}
FLANG_INLINE void flang_copy(const flang_box *target, const flang_box *source) {
  flang_copy_as(target, source, target->type, target->size);
}

/* Memory for all elements, without gaps. */
FLANG_INLINE void flang_allocate_as(flang_box *box, uint8_t rank) {
  int64_t bytes = (int64_t)box->size;
  FLANG_EACH(d, rank) {
    box->dim[d].stride = bytes;
    bytes *= box->dim[d].extent;
  }
  box->base = malloc(bytes > 0 ? (size_t)bytes : 1);
}
FLANG_INLINE void flang_allocate(flang_box *box) { flang_allocate_as(box, box->rank); }

/* Of arrays with as many dimensions. */
FLANG_INLINE bool flang_same_extents(const flang_box *a, const flang_box *b, uint8_t rank) {
  bool same = true;
  FLANG_EACH(d, rank) same = same && a->dim[d].extent == b->dim[d].extent;
  return same;
}
FLANG_INLINE void flang_copy_extents(flang_box *to, const flang_box *from, uint8_t rank) {
  FLANG_EACH(d, rank) {
    to->dim[d].lower = 1;
    to->dim[d].extent = from->dim[d].extent;
  }
}

/* Bytes from the first element to the last one upwards, and to the lowest. */
FLANG_INLINE int64_t flang_reach_up(const flang_box *box, uint8_t rank) {
  int64_t up = (int64_t)box->size;
  FLANG_EACH(d, rank) {
    int64_t reach = (box->dim[d].extent - 1) * box->dim[d].stride;
    up += reach > 0 ? reach : 0;
  }
  return up;
}
FLANG_INLINE int64_t flang_reach_down(const flang_box *box, uint8_t rank) {
  int64_t down = 0;
  FLANG_EACH(d, rank) {
    int64_t reach = (box->dim[d].extent - 1) * box->dim[d].stride;
    down += reach < 0 ? reach : 0;
  }
  return down;
}

/* Whether the memory of two arrays may overlap. */
FLANG_INLINE bool flang_may_overlap(const flang_box *a, uint8_t rank, const flang_box *b, uint8_t other_rank) {
  intptr_t at = (intptr_t)a->base, bt = (intptr_t)b->base;
  return at + flang_reach_down(a, rank) < bt + flang_reach_up(b, other_rank) &&
         bt + flang_reach_down(b, other_rank) < at + flang_reach_up(a, rank);
}

/* A descriptor for a new allocatable array; the extents are the caller's to set before `flang_allocate`. */
FLANG_INLINE void flang_establish(flang_box *box, int8_t type, uint64_t size, uint8_t rank) {
  box->base = NULL;
  box->size = size;
  box->version = FLANG_VERSION;
  box->rank = rank;
  box->type = type;
  box->attribute = FLANG_ALLOCATABLE;
  box->extra = 0;
  FLANG_EACH(d, rank) box->dim[d].lower = 1;
}

/* A copy without gaps, of elements of a type and of so many dimensions: the caller knows which descriptor has them as constants. */
FLANG_INLINE void flang_copy_apart(flang_box *copy, const flang_box *of, int8_t type, uint64_t size, uint8_t rank) {
  flang_establish(copy, type, size, rank);
  flang_copy_extents(copy, of, rank);
  flang_allocate_as(copy, rank);
  flang_copy_ranks(copy, of, type, size, rank, rank);
}

/* An allocatable array becomes one of the shape of what is assigned to it. */
FLANG_INLINE void flang_take_shape(flang_box *to, const flang_box *from, uint8_t rank, uint8_t from_rank) {
  if (to->attribute == FLANG_ALLOCATABLE && (!to->base || (from_rank > 0 && !flang_same_extents(to, from, rank)))) {
    if (to->base) free(to->base);
    if (from_rank > 0) flang_copy_extents(to, from, rank);
    flang_allocate_as(to, rank);
  }
}

/* Numbers of a type, which the variable overlaps nowhere; arrays have as many dimensions. */
FLANG_INLINE void flang_assign_apart(flang_box *to, const flang_box *from, int8_t type, uint64_t size, uint8_t rank, uint8_t from_rank) {
  flang_take_shape(to, from, rank, from_rank);
  flang_copy_ranks(to, from, type, size, rank, from_rank);
}

/* Numbers of a type; arrays have as many dimensions. */
FLANG_INLINE void flang_assign_numbers(flang_box *to, const flang_box *from, int8_t type, uint64_t size, uint8_t rank, uint8_t from_rank) {
  if (from_rank > 0 && to->base && flang_may_overlap(to, rank, from, from_rank)) {
    flang_box apart;
    flang_copy_apart(&apart, from, type, size, from_rank);
    flang_assign_apart(to, &apart, type, size, rank, from_rank);
    free(apart.base);
  } else {
    flang_assign_apart(to, from, type, size, rank, from_rank);
  }
}

/* Whether element k of a mask of any kind is true. A mask that is a scalar holds for all. */
FLANG_INLINE bool flang_is_true(const flang_box *mask, int64_t k) {
  const char *at = mask->base + (mask->rank == 0 ? 0 : flang_offset(mask, k));
  switch (mask->size) {
    case 1: return *(const int8_t *)at != 0;
    case 2: return *(const int16_t *)at != 0;
    case 4: return *(const int32_t *)at != 0;
    default: return *(const int64_t *)at != 0;
  }
}

#endif
