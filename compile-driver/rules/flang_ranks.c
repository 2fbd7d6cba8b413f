/* Assignments of whole arrays in Fortran, by the numbers of dimensions. Compiled with optimisation, unlike other rules: loops over dimensions are gone before
 * a rule is inlined, dozens of times in one procedure.
 *
 * Source: the Fortran 2018 standard, 10.2.1.3 (intrinsic assignment), and flang's `ISO_Fortran_binding.h` for descriptors.
 */
#include <ffgrad/flang.h>

/* The worker calls these where it knows how many dimensions there are (`known_ranks.rs`): whole assignments of numbers by the dozen, each with all ranks, are more than
 * LLVM's passes take, and behind the last dimension of a component other components begin, of which Enzyme would take the types. flang has converted the value
 * to the variable's type, and has just stored its descriptor: that of a dummy is the caller's. */
FLANG_INLINE void assign_ranks(flang_box *to, const flang_box *from, uint8_t rank, uint8_t from_rank, bool is_apart) {
  flang_box value;
  flang_fix_as(&value, from, from_rank);
  if (!flang_is_number(&value)) ffgrad_flang_refuse();
  if (is_apart) flang_assign_apart(to, &value, value.type, value.size, rank, from_rank);
  else flang_assign_numbers(to, &value, value.type, value.size, rank, from_rank);
}
/* `apart`: a value in memory of its own, which only this descriptor names, so that it overlaps the variable nowhere. */
#define ASSIGN(name, rank, from_rank, is_apart)                                                                                \
  FLANG_RULE void ffgrad_flang_assign_##name(flang_box *to, const flang_box *from, const char *file, int line) {             \
    assign_ranks(to, from, rank, from_rank, is_apart);                                                                         \
  }
ASSIGN(apart1, 1, 1, true)
ASSIGN(apart2, 2, 2, true)
ASSIGN(apart3, 3, 3, true)
ASSIGN(11, 1, 1, false)
ASSIGN(10, 1, 0, false)
ASSIGN(22, 2, 2, false)
ASSIGN(20, 2, 0, false)
ASSIGN(33, 3, 3, false)
ASSIGN(30, 3, 0, false)
