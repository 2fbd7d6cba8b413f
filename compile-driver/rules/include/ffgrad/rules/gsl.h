/* GSL's functions of numbers and their derivatives: the macros with which gsl_sf.c and gsl_ran.c state them.
 *
 * G(f) is ours for gsl_f. A slope is an expression in the arguments and, where the macro's name ends in Y, in the value y. It
 * calls G(f), not gsl_f, so that it can be differentiated itself. Each special function has two names: gsl_sf_f returns the
 * value, and gsl_sf_f_e writes value and error estimate to a structure.
 *
 * Source: the GNU Scientific Library's reference manual for what the names mean.
 */
#ifndef FFGRAD_RULES_GSL_H
#define FFGRAD_RULES_GSL_H
#include <ffgrad/derivatives.h>
#include <math.h>

#define G(name) ffgrad_gsl_##name
#define PI 3.14159265358979323846

/* Of pointers that the library does not store: memory that the program frees may then come from the arena. */
#define KEPT_NOWHERE __attribute__((noescape))

typedef struct {
  double val, err;
} result;

/* A derivative that is not known: not-a-number, and so is its own derivative. */
static inline double unknown(double x) { return sqrt(-1 - x * x); }
/* The same as the share of one argument in a tangent, which is nothing where that argument is constant. */
static inline double unknown_share(double x, double dx) { return dx == 0 ? 0 : unknown(x); }

/* Declarations: R stands for a number, I for an integer, M for GSL's precision mode. */
#define GSL_IS_R(name) \
  extern double gsl_##name(double); \
  extern int gsl_##name##_e(double, result *KEPT_NOWHERE); \
  double G(name)(double);
#define GSL_IS_IR(name) \
  extern double gsl_##name(int, double); \
  extern int gsl_##name##_e(int, double, result *KEPT_NOWHERE); \
  double G(name)(int, double);
#define GSL_IS_RM(name) \
  extern double gsl_##name(double, unsigned); \
  extern int gsl_##name##_e(double, unsigned, result *KEPT_NOWHERE); \
  double G(name)(double, unsigned);
#define GSL_IS_RR(name) \
  extern double gsl_##name(double, double); \
  extern int gsl_##name##_e(double, double, result *KEPT_NOWHERE); \
  double G(name)(double, double);

#define GSL_RULE(name) \
  FFGRAD_DERIVATIVES(ffgrad_gsl_##name, ffgrad_gsl_##name##_fwd, ffgrad_gsl_##name##_rev); \
  FFGRAD_DERIVATIVES(ffgrad_gsl_##name##_e, ffgrad_gsl_##name##_e_fwd, ffgrad_gsl_##name##_e_rev);

/* The derivatives of the form with a structure. What was in it does not count. */
#define GSL_TANGENT(dr, value) \
  if (dr) { \
    (dr)->val = (value); \
    (dr)->err = 0; \
  }
#define GSL_ADJOINT(dr, statements) \
  if (dr) { \
    double dy = (dr)->val; \
    statements (dr)->val = (dr)->err = 0; \
  }

/* One number. */
#define GSL_R_OF(name, before, slope) \
  double G(name)(double x) { return gsl_##name(x); } \
  int G(name##_e)(double x, result *r) { return gsl_##name##_e(x, r); } \
  double G(name##_fwd)(double x, double dx, double *dy) { \
    double y = G(name)(x); \
    *dy = dx == 0 ? 0 : (slope)*dx; \
    return y; \
  } \
  void G(name##_rev)(double x, double *dx, double dy) { \
    before *dx += (slope)*dy; \
  } \
  int G(name##_e_fwd)(double x, double dx, result *r, result *dr) { \
    before GSL_TANGENT(dr, dx == 0 ? 0 : (slope)*dx) return G(name##_e)(x, r); \
  } \
  void G(name##_e_rev)(double x, double *dx, result *r, result *dr) { \
    (void)r; \
    before GSL_ADJOINT(dr, *dx += (slope)*dy;) \
  } \
  GSL_RULE(name)
#define GSL_R(name, slope) GSL_R_OF(name, , slope)
#define GSL_RY(name, slope) GSL_R_OF(name, double y = G(name)(x);, slope)

/* An integer and a number. */
#define GSL_IR_OF(name, before, slope) \
  double G(name)(int n, double x) { return gsl_##name(n, x); } \
  int G(name##_e)(int n, double x, result *r) { return gsl_##name##_e(n, x, r); } \
  double G(name##_fwd)(int n, double x, double dx, double *dy) { \
    double y = G(name)(n, x); \
    *dy = (slope)*dx; \
    return y; \
  } \
  void G(name##_rev)(int n, double x, double *dx, double dy) { \
    before *dx += (slope)*dy; \
  } \
  int G(name##_e_fwd)(int n, double x, double dx, result *r, result *dr) { \
    before GSL_TANGENT(dr, (slope)*dx) return G(name##_e)(n, x, r); \
  } \
  void G(name##_e_rev)(int n, double x, double *dx, result *r, result *dr) { \
    (void)r; \
    before GSL_ADJOINT(dr, *dx += (slope)*dy;) \
  } \
  GSL_RULE(name)
#define GSL_IR(name, slope) GSL_IR_OF(name, , slope)
#define GSL_IRY(name, slope) GSL_IR_OF(name, double y = G(name)(n, x);, slope)

/* Two integers and a number. */
#define GSL_IIR(name, slope) \
  extern double gsl_##name(int, int, double); \
  extern int gsl_##name##_e(int, int, double, result *KEPT_NOWHERE); \
  double G(name)(int n, int m, double x) { return gsl_##name(n, m, x); } \
  int G(name##_e)(int n, int m, double x, result *r) { return gsl_##name##_e(n, m, x, r); } \
  double G(name##_fwd)(int n, int m, double x, double dx, double *dy) { \
    double y = G(name)(n, m, x); \
    *dy = (slope)*dx; \
    return y; \
  } \
  void G(name##_rev)(int n, int m, double x, double *dx, double dy) { \
    double y = G(name)(n, m, x); \
    (void)y; \
    *dx += (slope)*dy; \
  } \
  int G(name##_e_fwd)(int n, int m, double x, double dx, result *r, result *dr) { \
    double y = G(name)(n, m, x); \
    (void)y; \
    GSL_TANGENT(dr, (slope)*dx) return G(name##_e)(n, m, x, r); \
  } \
  void G(name##_e_rev)(int n, int m, double x, double *dx, result *r, result *dr) { \
    double y = G(name)(n, m, x); \
    (void)y, (void)r; \
    GSL_ADJOINT(dr, *dx += (slope)*dy;) \
  } \
  GSL_RULE(name)

/* One number and the precision mode. */
#define GSL_RM_OF(name, before, slope) \
  double G(name)(double x, unsigned mode) { return gsl_##name(x, mode); } \
  int G(name##_e)(double x, unsigned mode, result *r) { return gsl_##name##_e(x, mode, r); } \
  double G(name##_fwd)(double x, double dx, unsigned mode, double *dy) { \
    double y = G(name)(x, mode); \
    *dy = (slope)*dx; \
    return y; \
  } \
  void G(name##_rev)(double x, double *dx, unsigned mode, double dy) { \
    before *dx += (slope)*dy; \
  } \
  int G(name##_e_fwd)(double x, double dx, unsigned mode, result *r, result *dr) { \
    before GSL_TANGENT(dr, (slope)*dx) return G(name##_e)(x, mode, r); \
  } \
  void G(name##_e_rev)(double x, double *dx, unsigned mode, result *r, result *dr) { \
    (void)r; \
    before GSL_ADJOINT(dr, *dx += (slope)*dy;) \
  } \
  GSL_RULE(name)
#define GSL_RM(name, slope) GSL_RM_OF(name, , slope)
#define GSL_RMY(name, slope) GSL_RM_OF(name, double y = G(name)(x, mode);, slope)

/* Two numbers with a slope each, also with a mode. */
#define GSL_RR_OF(name, slope_a, slope_x) \
  double G(name)(double a, double x) { return gsl_##name(a, x); } \
  int G(name##_e)(double a, double x, result *r) { return gsl_##name##_e(a, x, r); } \
  double G(name##_fwd)(double a, double da, double x, double dx, double *dy) { \
    double y = G(name)(a, x); \
    *dy = (da == 0 ? 0 : (slope_a)*da) + (dx == 0 ? 0 : (slope_x)*dx); \
    return y; \
  } \
  void G(name##_rev)(double a, double *da, double x, double *dx, double dy) { \
    double y = G(name)(a, x); \
    (void)y; \
    *da += (slope_a)*dy; \
    *dx += (slope_x)*dy; \
  } \
  int G(name##_e_fwd)(double a, double da, double x, double dx, result *r, result *dr) { \
    double y = G(name)(a, x); \
    (void)y; \
    GSL_TANGENT(dr, (da == 0 ? 0 : (slope_a)*da) + (dx == 0 ? 0 : (slope_x)*dx)) return G(name##_e)(a, x, r); \
  } \
  void G(name##_e_rev)(double a, double *da, double x, double *dx, result *r, result *dr) { \
    double y = G(name)(a, x); \
    (void)y, (void)r; \
    GSL_ADJOINT(dr, *da += (slope_a)*dy; *dx += (slope_x)*dy;) \
  } \
  GSL_RULE(name)
#define GSL_RRM(name, slope_a, slope_x) \
  extern double gsl_##name(double, double, unsigned); \
  extern int gsl_##name##_e(double, double, unsigned, result *KEPT_NOWHERE); \
  double G(name)(double a, double x, unsigned mode) { return gsl_##name(a, x, mode); } \
  int G(name##_e)(double a, double x, unsigned mode, result *r) { return gsl_##name##_e(a, x, mode, r); } \
  double G(name##_fwd)(double a, double da, double x, double dx, unsigned mode, double *dy) { \
    double y = G(name)(a, x, mode); \
    *dy = (slope_a)*da + (slope_x)*dx; \
    return y; \
  } \
  void G(name##_rev)(double a, double *da, double x, double *dx, unsigned mode, double dy) { \
    *da += (slope_a)*dy; \
    *dx += (slope_x)*dy; \
  } \
  int G(name##_e_fwd)(double a, double da, double x, double dx, unsigned mode, result *r, result *dr) { \
    GSL_TANGENT(dr, (slope_a)*da + (slope_x)*dx) return G(name##_e)(a, x, mode, r); \
  } \
  void G(name##_e_rev)(double a, double *da, double x, double *dx, unsigned mode, result *r, result *dr) { \
    (void)r; \
    GSL_ADJOINT(dr, *da += (slope_a)*dy; *dx += (slope_x)*dy;) \
  } \
  GSL_RULE(name)

/* Parameters, whose derivatives are not known, and a number: P(...) of each parameter's name in the three ways in which it
 * stands in a parameter list, an argument list and a statement. */
#define GSL_PR(name, params, args, tangents, adjoints, shares, marks, slope) \
  extern double gsl_##name(params, double); \
  extern int gsl_##name##_e(params, double, result *KEPT_NOWHERE); \
  double G(name)(params, double x) { return gsl_##name(args, x); } \
  int G(name##_e)(params, double x, result *r) { return gsl_##name##_e(args, x, r); } \
  double G(name##_fwd)(tangents, double x, double dx, double *dy) { \
    double y = G(name)(args, x); \
    *dy = (dx == 0 ? 0 : (slope)*dx) + shares; \
    return y; \
  } \
  void G(name##_rev)(adjoints, double x, double *dx, double dy) { \
    double y = G(name)(args, x); \
    (void)y; \
    marks *dx += (slope)*dy; \
  } \
  int G(name##_e_fwd)(tangents, double x, double dx, result *r, result *dr) { \
    double y = G(name)(args, x); \
    (void)y; \
    GSL_TANGENT(dr, (dx == 0 ? 0 : (slope)*dx) + shares) return G(name##_e)(args, x, r); \
  } \
  void G(name##_e_rev)(adjoints, double x, double *dx, result *r, result *dr) { \
    double y = G(name)(args, x); \
    (void)y, (void)r; \
    GSL_ADJOINT(dr, marks *dx += (slope)*dy;) \
  } \
  GSL_RULE(name)
#define COMMA ,
#define GSL_PRR(name, slope) \
  GSL_PR(name, double a COMMA double b, a COMMA b, double a COMMA double da COMMA double b COMMA double db, \
         double a COMMA double *da COMMA double b COMMA double *db, unknown_share(x, da) + unknown_share(x, db), \
         *da += unknown(x) * dy; *db += unknown(x) * dy;, slope)
#define GSL_PRRR(name, slope) \
  GSL_PR(name, double a COMMA double b COMMA double c, a COMMA b COMMA c, \
         double a COMMA double da COMMA double b COMMA double db COMMA double c COMMA double dc, \
         double a COMMA double *da COMMA double b COMMA double *db COMMA double c COMMA double *dc, \
         unknown_share(x, da) + unknown_share(x, db) + unknown_share(x, dc), \
         *da += unknown(x) * dy; *db += unknown(x) * dy; *dc += unknown(x) * dy;, slope)

/* A function of integers: a constant. */
#define GSL_CONSTANT(name, type) \
  extern double gsl_##name(type); \
  double G(name)(type n) { return gsl_##name(n); } \
  FFGRAD_INACTIVE(ffgrad_gsl_##name);

#endif
