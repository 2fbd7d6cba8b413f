/* Assignments of whole arrays in Fortran, by the numbers of dimensions. Compiled with optimisation, unlike other rules: loops over dimensions are gone before
 * a rule is inlined, dozens of times in one procedure.
 *
 * Source: the Fortran 2018 standard, 10.2.1.3 (intrinsic assignment), and flang's `ISO_Fortran_binding.h` for descriptors.
 */
#include <ffgrad/flang.h>

/* The worker calls these where it knows how many dimensions there are (`known_ranks.rs`): whole assignments of numbers by the dozen, each with all ranks, are more than
 * LLVM's passes take, and behind the last dimension of a component other components begin, of which Enzyme would take the types. flang has converted the value
 * to the variable's type, and has just stored its descriptor: that of a dummy is the caller's. */
FLANG_INLINE void take_value(flang_box *to, const flang_box *value, int8_t type, uint64_t size, uint8_t rank, uint8_t value_rank) {
  if (to->attribute == FLANG_ALLOCATABLE && (!to->base || (value_rank > 0 && !flang_same_extents(to, value, rank)))) {
    if (to->base) free(to->base);
    if (value_rank > 0) flang_copy_extents(to, value, rank);
    flang_allocate_as(to, rank);
  }
  flang_copy_ranks(to, value, type, size, rank, value_rank);
}
FLANG_INLINE void assign_ranks(flang_box *to, const flang_box *from, uint8_t rank, uint8_t from_rank) {
  flang_box value, apart;
  flang_fix_as(&value, from, from_rank);
  if (!flang_is_number(&value)) ffgrad_flang_refuse();
  const int8_t type = value.type;
  const uint64_t size = value.size;
  if (from_rank > 0 && to->base && flang_may_overlap(to, rank, &value, from_rank)) {
    flang_establish(&apart, type, size, from_rank);
    flang_copy_extents(&apart, &value, from_rank);
    flang_allocate_as(&apart, from_rank);
    flang_copy_ranks(&apart, &value, type, size, from_rank, from_rank);
    take_value(to, &apart, type, size, rank, from_rank);
    free(apart.base);
  } else {
    take_value(to, &value, type, size, rank, from_rank);
  }
}
#define ASSIGN_RANKS(rank, from_rank)                                                                                          \
  FLANG_RULE void ffgrad_flang_assign_##rank##from_rank(flang_box *to, const flang_box *from, const char *file, int line) {  \
    assign_ranks(to, from, rank, from_rank);                                                                                   \
  }
ASSIGN_RANKS(1, 1)
ASSIGN_RANKS(1, 0)
ASSIGN_RANKS(2, 2)
ASSIGN_RANKS(2, 0)
ASSIGN_RANKS(3, 3)
ASSIGN_RANKS(3, 0)
