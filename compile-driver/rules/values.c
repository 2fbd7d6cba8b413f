/* Numbers whose derivative is not that of the operation which made them: constants, and results of a library with the derivative
 * of a formula.
 */
#include <ffgrad/derivatives.h>
#include <ffgrad/rules/values.h>

/* The number without its derivative. */
double ffgrad_constant(double x) { return x; }
double ffgrad_constant_fwd(double x, double dx, double *dy) {
  *dy = 0;
  return x;
}
void ffgrad_constant_rev(double x, double *dx, double dy) {}
FFGRAD_DERIVATIVES(ffgrad_constant, ffgrad_constant_fwd, ffgrad_constant_rev);

/* One number with the derivative of another. */
double ffgrad_value(double x, double like) { return x; }
double ffgrad_value_fwd(double x, double dx, double like, double dlike, double *dy) {
  *dy = dlike;
  return x;
}
void ffgrad_value_rev(double x, double *dx, double like, double *dlike, double dy) { *dlike += dy; }
FFGRAD_DERIVATIVES(ffgrad_value, ffgrad_value_fwd, ffgrad_value_rev);

/* One number whose derivative is not known: not-a-number where another has one. */
double ffgrad_unknown(double x, double like) { return x; }
double ffgrad_unknown_fwd(double x, double dx, double like, double dlike, double *dy) {
  *dy = dlike == 0 ? 0 : dlike * __builtin_nan("");
  return x;
}
void ffgrad_unknown_rev(double x, double *dx, double like, double *dlike, double dy) {
  if (dy != 0) *dlike += dy * __builtin_nan("");
}
FFGRAD_DERIVATIVES(ffgrad_unknown, ffgrad_unknown_fwd, ffgrad_unknown_rev);

/* One number of an iterative solver that has not come near a solution: where it has a cotangent, that is reported for the caller
 * (core-ad/llvm/src/lowering/unsolved.rs), who returns an error. Its tangent is not-a-number: whether results will depend on it is not
 * known yet, for iterations that are read on the way have one, too. */
extern void ffgrad_unsolved(long solver, long unknown, double step, double value);
/* Second derivatives differentiate what calls it. */
__attribute__((noinline)) void ffgrad_report_unsolved(double x) { ffgrad_unsolved(FFGRAD_OF_A_LIBRARY, 0, 0, x); }
FFGRAD_INACTIVE(ffgrad_report_unsolved);

double ffgrad_unsolved_value(double x, double like) { return x; }
double ffgrad_unsolved_value_fwd(double x, double dx, double like, double dlike, double *dy) {
  *dy = dlike == 0 ? 0 : dlike * __builtin_nan("");
  return x;
}
void ffgrad_unsolved_value_rev(double x, double *dx, double like, double *dlike, double dy) {
  if (dy == 0) return;
  ffgrad_report_unsolved(x);
  *dlike += dy * __builtin_nan("");
}
FFGRAD_DERIVATIVES(ffgrad_unsolved_value, ffgrad_unsolved_value_fwd, ffgrad_unsolved_value_rev);
