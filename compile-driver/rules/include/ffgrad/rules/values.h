/* What values.c defines: see there. */
#ifndef FFGRAD_RULES_VALUES_H
#define FFGRAD_RULES_VALUES_H

/* The number without its derivative. */
extern double ffgrad_constant(double x);
/* One number with the derivative of another. */
extern double ffgrad_value(double x, double like);
/* One number whose derivative is not known: not-a-number where another has one. */
extern double ffgrad_unknown(double x, double like);
/* One number of an iterative solver that has not come near a solution: an error where it has a cotangent, a tangent of not-a-number. `like` depends on what the
 * solution depends on. */
extern double ffgrad_unsolved_value(double x, double like);
/* The solver's number in reports of those (core_ad::protocol::SOLVER_OF_A_LIBRARY). */
#define FFGRAD_OF_A_LIBRARY (-1)

#endif
