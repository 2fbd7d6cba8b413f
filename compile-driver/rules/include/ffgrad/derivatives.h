/* Derivatives given in C or C++, without Python: #include <ffgrad/derivatives.h>. ffgrad puts this file on the include
 * path by itself; for any other compiler the macros leave two unused variables behind and nothing else.
 *
 *   double lookup(double x);
 *   double lookup_fwd(double x, double dx, double *dy);   // returns lookup(x), sets *dy
 *   void lookup_rev(double x, double *dx, double dy);     // adds to *dx
 *   FFGRAD_DERIVATIVES(lookup, lookup_fwd, lookup_rev);
 *
 * What the functions take and must do: docs/custom-derivatives.md. In C++ the functions must not be overloaded.
 */
#ifndef FFGRAD_DERIVATIVES_H
#define FFGRAD_DERIVATIVES_H

/* A function, its forward and its reverse derivative. */
#define FFGRAD_DERIVATIVES(function, forward, reverse)                            \
  __attribute__((used)) static void *const ffgrad_derivatives_##function[3] = {   \
      (void *)(function), (void *)(forward), (void *)(reverse)}

/* The same with a function that saves what the reverse derivative needs. */
#define FFGRAD_DERIVATIVES_SAVING(function, forward, reverse, save)               \
  __attribute__((used)) static void *const ffgrad_derivatives_##function[4] = {   \
      (void *)(function), (void *)(forward), (void *)(reverse), (void *)(save)}

/* A function whose value and effects carry no derivative. */
#define FFGRAD_INACTIVE(function) \
  __attribute__((used)) static void *const ffgrad_inactive_##function[1] = {(void *)(function)}

/* Read by ffgrad in its own rules: calls of the first become calls of the second. */
#define FFGRAD_REPLACES(old, new)

#endif
