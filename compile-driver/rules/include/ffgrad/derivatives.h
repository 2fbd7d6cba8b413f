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
#define FFGRAD_DERIVATIVES(function, forward, reverse) \
  FFGRAD_MARK(derivatives, function, (void *)(function), (void *)(forward), (void *)(reverse))

/* The same with a function that saves what the reverse derivative needs. */
#define FFGRAD_DERIVATIVES_SAVING(function, forward, reverse, save) \
  FFGRAD_MARK(derivatives, function, (void *)(function), (void *)(forward), (void *)(reverse), (void *)(save))

/* A function whose value and effects carry no derivative. */
#define FFGRAD_INACTIVE(function) FFGRAD_MARK(inactive, function, (void *)(function))

/* Before a loop: its gradient keeps so many states at most, and computes the others again (docs/checkpointing.md). */
#define FFGRAD_CHECKPOINT(snapshots) ffgrad_checkpoint_next_loop(snapshots)
__attribute__((unused, nothrow)) static inline void ffgrad_checkpoint_next_loop(long long snapshots) { (void)snapshots; }

#define FFGRAD_MARK(kind, function, ...) FFGRAD_MARK_(kind, function, __VA_ARGS__)
#define FFGRAD_MARK_(kind, function, ...) \
  __attribute__((used)) static void *const ffgrad_##kind##_##function[] = {__VA_ARGS__}

/* Read by ffgrad in its own rules: calls of the first become calls of the second. */
#define FFGRAD_REPLACES(old, new)
/* The same: the library that the rule calls. */
#define FFGRAD_LIBRARY(name)
/* The same: another rule's file, whose functions this one calls. */
#define FFGRAD_NEEDS(file)

#endif
