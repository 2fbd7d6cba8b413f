/* Assignments of whole arrays in Fortran, by the numbers of dimensions. Compiled with optimisation, unlike other rules: loops over dimensions are gone before
 * a rule is inlined, dozens of times in one procedure.
 *
 * Source: the Fortran 2018 standard, 10.2.1.3 (intrinsic assignment), and flang's `ISO_Fortran_binding.h` for descriptors.
 */
#include <ffgrad/flang.h>

/* The worker calls these where it knows how many dimensions there are (`known_ranks.rs`): whole assignments of numbers by the dozen, each with all ranks, are more than
 * LLVM's passes take, and behind the last dimension of a component other components begin, of which Enzyme would take the types. flang has converted the value
 * to the variable's type, and has just stored its descriptor: that of a dummy is the caller's. */
FLANG_INLINE void assign_ranks(flang_box *to, const flang_box *from, uint8_t rank, uint8_t from_rank) {
  flang_box value;
  flang_fix_as(&value, from, from_rank);
  if (!flang_is_number(&value)) ffgrad_flang_refuse();
  flang_assign_numbers(to, &value, value.type, value.size, rank, from_rank);
}
/* A value in memory of its own, which only this descriptor names: it overlaps the variable nowhere. */
FLANG_INLINE void assign_apart(flang_box *to, const flang_box *from, uint8_t rank) {
  flang_box value;
  flang_fix_as(&value, from, rank);
  if (!flang_is_number(&value)) ffgrad_flang_refuse();
  flang_assign_apart(to, &value, value.type, value.size, rank, rank);
}
#define ASSIGN_APART(rank)                                                                                                     \
  FLANG_RULE void ffgrad_flang_assign_apart##rank(flang_box *to, const flang_box *from, const char *file, int line) {        \
    assign_apart(to, from, rank);                                                                                              \
  }
ASSIGN_APART(1)
ASSIGN_APART(2)
ASSIGN_APART(3)

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
