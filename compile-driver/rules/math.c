/* Functions of math.h and complex.h that Enzyme has no derivative of, or not in the shape in which clang gives them to
 * it: intrinsics of LLVM (tan, atan2, sincos, modf) and the complex elementary functions.
 *
 * Source: NIST Digital Library of Mathematical Functions, dlmf.nist.gov: 4.21.39 and 4.21.37 (sin and cos of a complex
 * number), 4.35.20 and 4.35.36 (sinh, cosh, tanh), 4.2.2 and 4.2.19 (log, exp), 4.2.26 (powers); Kahan, "Branch cuts for
 * complex elementary functions" (1987), for the square root without cancellation.
 */
#include <complex.h>
#include <ffgrad/derivatives.h>
#include <limits.h>
#include <math.h>

FFGRAD_REPLACES(llvm.tan.f64, ffgrad_tan)
FFGRAD_REPLACES(llvm.tan.f32, ffgrad_tanf)
FFGRAD_REPLACES(llvm.atan2.f64, ffgrad_atan2)
FFGRAD_REPLACES(llvm.atan2.f32, ffgrad_atan2f)
FFGRAD_REPLACES(llvm.sincos.f64, ffgrad_sincos)
FFGRAD_REPLACES(llvm.modf.f64, ffgrad_modf)
FFGRAD_REPLACES(llvm.ldexp.f64.i32, ffgrad_ldexp)
FFGRAD_REPLACES(llvm.ldexp.f32.i32, ffgrad_ldexpf)
FFGRAD_REPLACES(llvm.ldexp.f80.i32, ffgrad_ldexpl)
FFGRAD_REPLACES(llvm.tan.f80, ffgrad_tanl)
FFGRAD_REPLACES(llvm.atan2.f80, ffgrad_atan2l)
FFGRAD_REPLACES(llvm.modf.f80, ffgrad_modfl)
FFGRAD_REPLACES(llvm.fptosi.sat.i32.f64, ffgrad_int_of_double)
FFGRAD_REPLACES(llvm.fptosi.sat.i64.f64, ffgrad_long_of_double)
FFGRAD_REPLACES(llvm.fptosi.sat.i32.f32, ffgrad_int_of_float)
FFGRAD_REPLACES(llvm.fptosi.sat.i64.f32, ffgrad_long_of_float)
FFGRAD_REPLACES(remainderl, ffgrad_remainderl)
FFGRAD_REPLACES(nextafter, ffgrad_nextafter)
FFGRAD_REPLACES(remquo, ffgrad_remquo)
FFGRAD_REPLACES(__divdc3, ffgrad_divided)
FFGRAD_REPLACES(__divsc3, ffgrad_dividedf)
FFGRAD_REPLACES(cexp, ffgrad_cexp)
FFGRAD_REPLACES(clog, ffgrad_clog)
FFGRAD_REPLACES(csqrt, ffgrad_csqrt)
FFGRAD_REPLACES(cpow, ffgrad_cpow)
FFGRAD_REPLACES(carg, ffgrad_carg)
FFGRAD_REPLACES(csin, ffgrad_csin)
FFGRAD_REPLACES(ccos, ffgrad_ccos)
FFGRAD_REPLACES(ctan, ffgrad_ctan)
FFGRAD_REPLACES(csinh, ffgrad_csinh)
FFGRAD_REPLACES(ccosh, ffgrad_ccosh)
FFGRAD_REPLACES(ctanh, ffgrad_ctanh)
FFGRAD_REPLACES(cexpf, ffgrad_cexpf)
FFGRAD_REPLACES(clogf, ffgrad_clogf)
FFGRAD_REPLACES(csqrtf, ffgrad_csqrtf)
FFGRAD_REPLACES(cpowf, ffgrad_cpowf)
FFGRAD_REPLACES(cargf, ffgrad_cargf)

typedef double complex number;
static inline number of(double x, double y) { return __builtin_complex(x, y); }

double ffgrad_tan(double x) { return tan(x); }
double ffgrad_tan_fwd(double x, double dx, double *dy) {
  double y = ffgrad_tan(x);
  *dy = (1 + y * y) * dx;
  return y;
}
void ffgrad_tan_rev(double x, double *dx, double dy) {
  double y = ffgrad_tan(x);
  *dx += (1 + y * y) * dy;
}
FFGRAD_DERIVATIVES(ffgrad_tan, ffgrad_tan_fwd, ffgrad_tan_rev);

double ffgrad_atan2(double y, double x) { return atan2(y, x); }
double ffgrad_atan2_fwd(double y, double dy, double x, double dx, double *da) {
  *da = (x * dy - y * dx) / (x * x + y * y);
  return ffgrad_atan2(y, x);
}
void ffgrad_atan2_rev(double y, double *dy, double x, double *dx, double da) {
  double s = da / (x * x + y * y);
  *dy += x * s;
  *dx -= y * s;
}
FFGRAD_DERIVATIVES(ffgrad_atan2, ffgrad_atan2_fwd, ffgrad_atan2_rev);

float ffgrad_tanf(float x) { return (float)ffgrad_tan(x); }
float ffgrad_atan2f(float y, float x) { return (float)ffgrad_atan2(y, x); }

/* x 2^n as products with powers, which are constant: three, so that each is in the type's range. */
double ffgrad_ldexp(double x, int n) {
  int third = (n > 6000 ? 6000 : n < -6000 ? -6000 : n) / 3;
  return x * ldexp(1.0, third) * ldexp(1.0, third) * ldexp(1.0, n - 2 * third);
}
float ffgrad_ldexpf(float x, int n) {
  int third = (n > 6000 ? 6000 : n < -6000 ? -6000 : n) / 3;
  return x * ldexpf(1.0f, third) * ldexpf(1.0f, third) * ldexpf(1.0f, n - 2 * third);
}
long double ffgrad_ldexpl(long double x, int n) {
  int third = (n > 60000 ? 60000 : n < -60000 ? -60000 : n) / 3;
  return x * ldexpl(1.0L, third) * ldexpl(1.0L, third) * ldexpl(1.0L, n - 2 * third);
}

long double ffgrad_tanl(long double x) { return sinl(x) / cosl(x); }
/* By the quotient that is at most 1, and the quadrant. */
long double ffgrad_atan2l(long double y, long double x) {
  const long double pi = 3.14159265358979323846264338327950288L;
  if (x == 0 && y == 0) return signbit(x) ? copysignl(pi, y) : y;
  if (fabsl(x) < fabsl(y)) return copysignl(pi / 2, y) - atanl(x / y);
  return atanl(y / x) + (x < 0 ? copysignl(pi, y) : 0);
}
long double ffgrad_remainderl(long double x, long double y) { return fmal(-rintl(x / y), y, x); }

/* Fortran's INT: the nearest integer of the type where there is none, and 0 for not-a-number. Enzyme knows the conversion, and not the
 * intrinsic, whose result it may take for a number. */
#define TRUNCATED(name, integer, real, least, most) \
  integer name(real x) { return x != x ? 0 : x >= -(real)least ? most : x <= (real)least ? least : (integer)x; }
TRUNCATED(ffgrad_int_of_double, int, double, INT_MIN, INT_MAX)
TRUNCATED(ffgrad_long_of_double, long, double, LONG_MIN, LONG_MAX)
TRUNCATED(ffgrad_int_of_float, int, float, INT_MIN, INT_MAX)
TRUNCATED(ffgrad_long_of_float, long, float, LONG_MIN, LONG_MAX)

double ffgrad_nextafter(double x, double to) { return nextafter(x, to); }
double ffgrad_nextafter_fwd(double x, double dx, double to, double dto, double *dy) {
  (void)dto;
  *dy = dx;
  return nextafter(x, to);
}
void ffgrad_nextafter_rev(double x, double *dx, double to, double *dto, double dy) {
  (void)x, (void)to, (void)dto;
  *dx += dy;
}
FFGRAD_DERIVATIVES(ffgrad_nextafter, ffgrad_nextafter_fwd, ffgrad_nextafter_rev);

/* x - n y, where the integer n does not change; what remquo says of n is a constant. */
double ffgrad_rest(double x, double y) { return remainder(x, y); }
double ffgrad_rest_fwd(double x, double dx, double y, double dy, double *dr) {
  double r = remainder(x, y);
  *dr = dx - rint((x - r) / y) * dy;
  return r;
}
void ffgrad_rest_rev(double x, double *dx, double y, double *dy, double dr) {
  *dx += dr;
  *dy -= rint((x - remainder(x, y)) / y) * dr;
}
FFGRAD_DERIVATIVES(ffgrad_rest, ffgrad_rest_fwd, ffgrad_rest_rev);
int ffgrad_remquo_bits(double x, double y) {
  int bits = 0;
  remquo(x, y, &bits);
  return bits;
}
FFGRAD_INACTIVE(ffgrad_remquo_bits);
double ffgrad_remquo(double x, double y, int *bits) {
  *bits = ffgrad_remquo_bits(x, y);
  return ffgrad_rest(x, y);
}

/* Two values as LLVM returns them. */
typedef struct {
  double first, second;
} pair;
pair ffgrad_sincos(double x) { return (pair){sin(x), cos(x)}; }
/* The form in which C returns two of them. */
long double complex ffgrad_modfl(long double x) {
  long double whole = truncl(x);
  return __builtin_complex(fabsl(x) == INFINITY ? copysignl(0.0L, x) : copysignl(x - whole, x), whole);
}
pair ffgrad_modf(double x) {
  double whole = trunc(x);
  return (pair){fabs(x) == INFINITY ? copysign(0.0, x) : copysign(x - whole, x), whole};
}

number ffgrad_cexp(number z) {
  double e = exp(creal(z));
  return of(e * cos(cimag(z)), e * sin(cimag(z)));
}
double ffgrad_carg(number z) { return ffgrad_atan2(cimag(z), creal(z)); }
number ffgrad_clog(number z) { return of(log(hypot(creal(z), cimag(z))), ffgrad_carg(z)); }
number ffgrad_csqrt(number z) {
  double x = creal(z), y = cimag(z), u = sqrt(0.5 * (hypot(x, y) + fabs(x)));
  if (u == 0) return of(0, y);
  return x >= 0 ? of(u, 0.5 * y / u) : of(0.5 * fabs(y) / u, copysign(u, y));
}
number ffgrad_cpow(number z, number w) {
  if (creal(z) == 0 && cimag(z) == 0) return of(creal(w) == 0 && cimag(w) == 0 ? 1 : 0, 0);
  double r = log(hypot(creal(z), cimag(z))), a = ffgrad_carg(z);
  return ffgrad_cexp(of(creal(w) * r - cimag(w) * a, creal(w) * a + cimag(w) * r));
}
number ffgrad_csin(number z) { return of(sin(creal(z)) * cosh(cimag(z)), cos(creal(z)) * sinh(cimag(z))); }
number ffgrad_ccos(number z) { return of(cos(creal(z)) * cosh(cimag(z)), -sin(creal(z)) * sinh(cimag(z))); }
number ffgrad_csinh(number z) { return of(sinh(creal(z)) * cos(cimag(z)), cosh(creal(z)) * sin(cimag(z))); }
number ffgrad_ccosh(number z) { return of(cosh(creal(z)) * cos(cimag(z)), sinh(creal(z)) * sin(cimag(z))); }
number ffgrad_ctanh(number z) {
  double x = 2 * creal(z), y = 2 * cimag(z);
  /* Beyond that the hyperbolic functions are equal to half the exponential, and soon overflow. */
  if (fabs(x) > 40) return of(copysign(1, x), 2 * sin(y) * exp(-fabs(x)));
  double d = cosh(x) + cos(y);
  return of(sinh(x) / d, sin(y) / d);
}
number ffgrad_ctan(number z) {
  number t = ffgrad_ctanh(of(-cimag(z), creal(z)));
  return of(cimag(t), -creal(t));
}

/* Quotients, as flang calls them. Here they are written out by clang (Smith's algorithm: Communications of the ACM 5, 1962): each of its two
 * branches has the quotient's derivative. */
number ffgrad_divided(double a, double b, double c, double d) { return of(a, b) / of(c, d); }

/* In single precision through double. */
float complex ffgrad_dividedf(float a, float b, float c, float d) { return (float complex)ffgrad_divided(a, b, c, d); }
float complex ffgrad_cexpf(float complex z) { return (float complex)ffgrad_cexp(z); }
float complex ffgrad_clogf(float complex z) { return (float complex)ffgrad_clog(z); }
float complex ffgrad_csqrtf(float complex z) { return (float complex)ffgrad_csqrt(z); }
float complex ffgrad_cpowf(float complex z, float complex w) { return (float complex)ffgrad_cpow(z, w); }
float ffgrad_cargf(float complex z) { return (float)ffgrad_carg(z); }
