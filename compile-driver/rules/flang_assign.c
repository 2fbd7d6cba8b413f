/* flang's runtime functions for assignment, allocation and copies of arguments, written as loops that Enzyme
 * can differentiate. Objects of derived types are allocated, freed and copied by component, a text is assigned; arrays of
 * characters are refused in derivatives.
 *
 * Source: Fortran 2018 (ISO/IEC 1539-1:2018), 10.2.1.3 (intrinsic assignment; an allocatable variable takes the shape of
 * the expression), 9.7.1 and 9.7.3 (allocate, deallocate), 15.5.2.4 (copies of arguments), 16.9.137
 * (move_alloc). Results are the library's, but for what happens after an error.
 */
#include <ffgrad/derivatives.h>
#include <ffgrad/flang.h>

FFGRAD_NEEDS(flang_ranks.c)
FFGRAD_REPLACES(_FortranAAssign, ffgrad_flang_assign)
FFGRAD_REPLACES(_FortranAAssignTemporary, ffgrad_flang_assign)
FFGRAD_REPLACES(_FortranACopyInAssign, ffgrad_flang_copy_in)
FFGRAD_REPLACES(_FortranACopyOutAssign, ffgrad_flang_copy_out)
FFGRAD_REPLACES(_FortranAIsContiguous, ffgrad_flang_contiguous)
FFGRAD_REPLACES(_FortranAMoveAlloc, ffgrad_flang_move_alloc)
FFGRAD_REPLACES(_FortranAAllocatableSetBounds, ffgrad_flang_set_bounds)
FFGRAD_REPLACES(_FortranAPointerSetBounds, ffgrad_flang_set_bounds)
FFGRAD_REPLACES(_FortranAAllocatableApplyMold, ffgrad_flang_apply_mold)
FFGRAD_REPLACES(_FortranAAllocatableAllocate, ffgrad_flang_allocatable_allocate)
FFGRAD_REPLACES(_FortranAAllocatableAllocateSource, ffgrad_flang_allocate_source)
FFGRAD_REPLACES(_FortranAAllocatableDeallocate, ffgrad_flang_deallocate)
FFGRAD_REPLACES(_FortranAPointerAllocate, ffgrad_flang_pointer_allocate)
FFGRAD_REPLACES(_FortranAPointerDeallocate, ffgrad_flang_deallocate)
FFGRAD_REPLACES(_FortranAAllocatableInitDerivedForAllocate, ffgrad_flang_set_type)
FFGRAD_REPLACES(_FortranAAllocatableDeallocatePolymorphic, ffgrad_flang_deallocate_object)
FFGRAD_REPLACES(_FortranAPointerDeallocatePolymorphic, ffgrad_flang_deallocate_object)
FFGRAD_REPLACES(_FortranAInitialize, ffgrad_flang_initialize)
FFGRAD_REPLACES(_FortranADestroy, ffgrad_flang_destroy_objects)

/* An allocatable component of numbers or characters: of its own memory, of the same shape. */
static FLANG_RULE void copy_component(flang_box *to, const flang_box *from, int8_t type, uint64_t size, uint8_t rank) {
  if (to == from) return;
  if (to->base) free(to->base);
  flang_establish(to, type, type == FLANG_CHARACTER ? from->size : size, rank);
  FLANG_EACH(d, rank) to->dim[d] = from->dim[d];
  if (!from->base) return;
  if (type == FLANG_CHARACTER) {
    flang_allocate(to);
    const int64_t bytes = (int64_t)from->size * flang_elements(to);
    for (int64_t k = 0; k < bytes; k++) to->base[k] = from->base[k];
    return;
  }
  flang_box fixed;
  flang_establish(&fixed, type, size, rank);
  fixed.base = from->base;
  FLANG_EACH(d, rank) fixed.dim[d] = from->dim[d];
  flang_allocate(to);
  flang_copy_as(to, &fixed, type, size);
}

/* Objects one by one, to memory that holds objects of this type. */
FLANG_INLINE void copy_objects(flang_box *to, const flang_box *from, const void *type) {
  const int64_t count = flang_elements(to);
  for (int64_t k = 0; k < count; k++)
    ffgrad_flang_copy(to->base + flang_offset(to, k), type, 1, from->base + (from->rank == 0 ? 0 : flang_offset(from, k)),
                      copy_component);
}

FLANG_INLINE void assign_objects(flang_box *to, const flang_box *from) {
  const void *type = *flang_type(to);
  const uint64_t size = to->size;
  const bool is_resized = to->attribute == FLANG_ALLOCATABLE && (!to->base || (from->rank > 0 && !flang_same_extents(to, from, to->rank)));
  if (from->rank > 0 && to->base && flang_may_overlap(to, to->rank, from, from->rank)) {
    flang_box apart;
    flang_establish(&apart, FLANG_OBJECT, size, from->rank);
    flang_copy_extents(&apart, from, from->rank);
    flang_allocate(&apart);
    ffgrad_flang_create(apart.base, type, flang_elements(&apart));
    copy_objects(&apart, from, type);
    copy_objects(to, &apart, type);
    ffgrad_flang_destroy(apart.base, type, flang_elements(&apart));
    free(apart.base);
    return;
  }
  if (is_resized) {
    if (to->base) {
      ffgrad_flang_destroy(to->base, type, flang_elements(to));
      free(to->base);
    }
    if (from->rank > 0) flang_copy_extents(to, from, to->rank);
    flang_allocate(to);
    ffgrad_flang_create(to->base, type, flang_elements(to));
  }
  copy_objects(to, from, type);
}

/* An allocatable text, of deferred length, becomes as long as what is assigned to it; another is filled with blanks. */
FLANG_INLINE void assign_text(flang_box *to, const flang_box *from) {
  const bool is_resized = to->attribute == FLANG_ALLOCATABLE;
  const int64_t given = (int64_t)from->size, length = is_resized ? given : (int64_t)to->size;
  /* Both may be parts of one text. */
  char *text = malloc(length > 0 ? (size_t)length : 1);
  for (int64_t k = 0; k < length; k++) text[k] = ' ';
  for (int64_t k = 0; k < (given < length ? given : length); k++) text[k] = from->base[k];
  if (is_resized) {
    if (to->base) free(to->base);
    to->base = text;
    to->size = (uint64_t)length;
  } else {
    for (int64_t k = 0; k < length; k++) to->base[k] = text[k];
    free(text);
  }
}

FLANG_RULE void ffgrad_flang_assign(flang_box *to, const flang_box *from, const char *file, int line) {
  if (flang_is_object(to)) return assign_objects(to, from);
  if (flang_is_text(to)) return assign_text(to, from);
  if (!flang_is_number(to)) ffgrad_flang_refuse();
  /* Read before anything is written: flang has just stored them. Elements of a type unknown to Enzyme would be of several. */
  flang_assign_numbers(to, from, to->type, to->size, to->rank, from->rank);
}

/* A text, where one procedure assigns dozens (of messages). */
__attribute__((noinline)) void ffgrad_flang_assign_text(flang_box *to, const flang_box *from, const char *file, int line) {
  assign_text(to, from);
}

FLANG_RULE void ffgrad_flang_copy_in(flang_box *copy, const flang_box *variable, const char *file, int line) {
  /* What was there is no descriptor yet. */
  if (!flang_is_number(variable)) ffgrad_flang_refuse();
  flang_copy_apart(copy, variable, variable->type, variable->size, variable->rank);
}

FLANG_RULE void ffgrad_flang_copy_out(flang_box *variable, flang_box *copy, const char *file, int line) {
  if (!flang_is_number(copy)) ffgrad_flang_refuse();
  if (variable) flang_copy(variable, copy);
  free(copy->base);
  copy->base = NULL;
}

FLANG_RULE bool ffgrad_flang_contiguous(const flang_box *box) { return flang_is_contiguous(box); }

FLANG_RULE int ffgrad_flang_move_alloc(flang_box *to, flang_box *from, const void *type, bool has_stat,
                                       const flang_box *message, const char *file, int line) {
  if (to->base) free(to->base);
  to->base = from->base;
  FLANG_EACH(d, to->rank) to->dim[d] = from->dim[d];
  from->base = NULL;
  return 0;
}

FLANG_RULE void ffgrad_flang_set_bounds(flang_box *box, int dimension, int64_t lower, int64_t upper) {
  int64_t extent = upper - lower + 1;
  box->dim[dimension].lower = extent > 0 ? lower : 1;
  box->dim[dimension].extent = extent > 0 ? extent : 0;
}

FLANG_RULE void ffgrad_flang_apply_mold(flang_box *box, const flang_box *mold, int rank) {
  FLANG_EACH(d, rank) {
    box->dim[d].lower = mold->dim[d].lower;
    box->dim[d].extent = mold->dim[d].extent;
  }
}

/* Numbers, or objects with their default values. */
FLANG_INLINE void allocate_elements(flang_box *box) {
  /* Asked before: malloc may change a descriptor of a module for all that LLVM knows. */
  const bool is_object = flang_is_object(box);
  if (!flang_is_number(box) && !is_object) ffgrad_flang_refuse();
  flang_allocate(box);
  if (is_object) ffgrad_flang_create(box->base, *flang_type(box), flang_elements(box));
}

FLANG_RULE int ffgrad_flang_allocatable_allocate(flang_box *box, int64_t *stream, bool has_stat,
                                                 const flang_box *message, const char *file, int line) {
  allocate_elements(box);
  return 0;
}

FLANG_RULE int ffgrad_flang_pointer_allocate(flang_box *box, bool has_stat, const flang_box *message, const char *file,
                                             int line) {
  allocate_elements(box);
  return 0;
}

FLANG_RULE int ffgrad_flang_allocate_source(flang_box *box, const flang_box *source, bool has_stat,
                                            const flang_box *message, const char *file, int line) {
  /* A variable that an argument stands for is not known here, but what it is made from may be. */
  if (flang_is_object(source) || flang_is_object(box)) {
    /* A polymorphic variable gets the type of the source. */
    const void *type = *flang_type((flang_box *)source);
    box->size = source->size;
    *flang_type(box) = type;
    flang_allocate(box);
    ffgrad_flang_create(box->base, type, flang_elements(box));
    copy_objects(box, source, type);
    return 0;
  }
  if (!flang_is_number(box)) ffgrad_flang_refuse();
  flang_allocate(box);
  flang_copy(box, source);
  return 0;
}

FLANG_RULE int ffgrad_flang_deallocate(flang_box *box, bool has_stat, const flang_box *message, const char *file,
                                       int line) {
  if (!flang_is_number(box) && !flang_is_object(box)) ffgrad_flang_refuse();
  if (!box->base) return FLANG_STAT_UNALLOCATED;
  if (flang_is_object(box)) ffgrad_flang_destroy(box->base, *flang_type(box), flang_elements(box));
  free(box->base);
  box->base = NULL;
  return 0;
}

/* A polymorphic variable gets the type that it is allocated with, and its own type again at the end. It holds objects, whatever is known of it. */
FLANG_RULE void ffgrad_flang_set_type(flang_box *box, const void *type, int rank, int corank) {
  const flang_object_type *of = type;
  flang_establish(box, FLANG_OBJECT, of->size, (uint8_t)rank);
  box->extra = 1;
  *flang_type(box) = type;
}

FLANG_RULE int ffgrad_flang_deallocate_object(flang_box *box, const void *type, bool has_stat,
                                              const flang_box *message, const char *file, int line) {
  if (box->rank > FLANG_RANK) __builtin_trap();
  const bool was_allocated = box->base != NULL;
  if (was_allocated) {
    ffgrad_flang_destroy(box->base, *flang_type(box), flang_elements(box));
    free(box->base);
    box->base = NULL;
  }
  if (type) *flang_type(box) = type;
  return was_allocated ? 0 : FLANG_STAT_UNALLOCATED;
}

/* The default values of a local object, and the end of what its components own. Called for objects only; nothing else is known of a polymorphic argument. */
FLANG_RULE void ffgrad_flang_initialize(flang_box *box, const char *file, int line) {
  if (box->rank > FLANG_RANK) __builtin_trap();
  ffgrad_flang_create(box->base, *flang_type(box), flang_elements(box));
}

FLANG_RULE void ffgrad_flang_destroy_objects(flang_box *box) {
  if (box->rank > FLANG_RANK) __builtin_trap();
  ffgrad_flang_destroy(box->base, *flang_type(box), flang_elements(box));
}
