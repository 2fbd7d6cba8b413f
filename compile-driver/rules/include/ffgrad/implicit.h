/* What the programs in the place of solvers share (core-ad/src/implicit/mod.rs writes them): the inverse of a Jacobian, and the
 * judgement whether the solver's solution is one. Both are of values alone.
 *
 * The test is the size of the Newton step d = -J^-1 r from the solution, unknown by unknown: |d_i| <= tolerance * s_i. The scale s_i
 * must not depend on the units of unknowns and equations: it is the larger of |x_i|, |x_i + d_i|, and how far x_i may move before it counts in
 * any of the equations that have it, min over j of (sum over k |J_jk x_k|) / |J_ji|. An unknown that is zero beside others has a scale so.
 * One that is zero by itself has none: there |d_i| <= tolerance / 100 is enough, if the step ends at zero.
 *
 * A Jacobian is singular where the inverse has no correct digit: the componentwise condition number (|J^-1| |J|)_ii comes near to
 * 1 / epsilon. It does not depend on units either. R. Skeel, "Scaling for numerical stability in Gaussian elimination" (1979).
 */
#ifndef FFGRAD_IMPLICIT_H
#define FFGRAD_IMPLICIT_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Kept for the caller of the derivative (core-ad/llvm/src/lowering/unsolved.rs): solver, unknown from 0 or -1 where the Jacobian is singular,
 * step, value. */
extern void ffgrad_unsolved(long solver, long unknown, double step, double value);

#define FFGRAD_ZERO 0.01    /* of the tolerance, absolute: 1e-6 of doubles */
#define FFGRAD_AT_ZERO 0.01 /* of the step: so near to zero it ends */
#define FFGRAD_SINGULAR 0.01

/* Gauss and Jordan, with the largest pivot of each column. A matrix without an inverse gets NaN. */
static void ffgrad_invert(long n, double *a, double *inverse) {
  for (long i = 0; i < n; i++)
    for (long j = 0; j < n; j++) inverse[i * n + j] = i == j;
  for (long k = 0; k < n; k++) {
    long p = k;
    for (long i = k + 1; i < n; i++)
      if (fabs(a[i * n + k]) > fabs(a[p * n + k])) p = i;
    for (long j = 0; j < n && p != k; j++) {
      double s = a[k * n + j];
      a[k * n + j] = a[p * n + j], a[p * n + j] = s;
      s = inverse[k * n + j];
      inverse[k * n + j] = inverse[p * n + j], inverse[p * n + j] = s;
    }
    double pivot = a[k * n + k] != 0 ? 1 / a[k * n + k] : NAN;
    for (long j = 0; j < n; j++) a[k * n + j] *= pivot, inverse[k * n + j] *= pivot;
    for (long i = 0; i < n; i++) {
      double f = a[i * n + k];
      if (i == k || f == 0) continue;
      for (long j = 0; j < n; j++) a[i * n + j] -= f * a[k * n + j], inverse[i * n + j] -= f * inverse[k * n + j];
    }
  }
}

/* How far an unknown may move before it counts in any equation that has it. */
static double ffgrad_reach(long n, const double *x, const double *a, long i) {
  double least = INFINITY;
  for (long j = 0; j < n; j++) {
    double own = fabs(a[j * n + i]), sum = 0;
    for (long k = 0; k < n; k++) sum += fabs(a[j * n + k] * x[k]);
    if (own > 0) least = fmin(least, sum / own);
  }
  return least < INFINITY ? least : 0;
}

/* Whether x is a solution; else it is reported. */
static int ffgrad_is_solved(long solver, long n, const double *x, const double *r, const double *a, const double *inverse,
                            double tolerance, double epsilon) {
  for (long i = 0; i < n; i++) {
    double condition = 0, step = 0;
    for (long j = 0; j < n; j++) {
      condition += fabs(inverse[i * n + j] * a[j * n + i]);
      step -= inverse[i * n + j] * r[j];
    }
    if (!(condition * epsilon < FFGRAD_SINGULAR)) return ffgrad_unsolved(solver, -1, condition, x[i]), 0;
    double size = fabs(step), scale = fmax(fabs(x[i]), fabs(x[i] + step));
    int is_zero = size <= FFGRAD_ZERO * tolerance && fabs(x[i] + step) <= FFGRAD_AT_ZERO * size;
    if (size <= tolerance * scale || is_zero || size <= tolerance * ffgrad_reach(n, x, a, i)) continue;
    return ffgrad_unsolved(solver, i, step, x[i]), 0;
  }
  return 1;
}

/* The inverse of the Jacobian where the solver ends. Where it has not solved it is zero: values stay what they are, and the caller of the
 * derivative, which has the report, returns no gradient. */
static void ffgrad_settle(long solver, long n, const double *x, const double *r, const double *jacobian, double *inverse,
                          double tolerance, double epsilon) {
  double *a = malloc((size_t)n * (size_t)n * sizeof *a);
  memcpy(a, jacobian, (size_t)n * (size_t)n * sizeof *a);
  ffgrad_invert(n, a, inverse);
  if (!ffgrad_is_solved(solver, n, x, r, jacobian, inverse, tolerance, epsilon))
    memset(inverse, 0, (size_t)n * (size_t)n * sizeof *inverse);
  free(a);
}

#endif
