/* libmvec with every result one unit in the last place too large: preloaded, it shows where a scalar and a vector version of a function
 * meet in results that must have the same bits. Only for x86-64; the names are those of the vector function ABI (letters b, c, d and e
 * are SSE2, AVX, AVX2 and AVX-512). */
#define _GNU_SOURCE
#include <math.h>

#define V(type, lanes) type __attribute__((vector_size(lanes * sizeof(type))))
#define UP(x) _Generic((x), float: nextafterf, double: nextafter)(x, INFINITY)

/* Zero, infinity and NaN stay: the derivative may rely on exact zeros, and the versions agree on them everywhere. */
#define OFF(r) ((r) == 0 || !isfinite(r) ? (r) : UP(r))

#define ONE(isa, target_, lanes, type, name)                                                                  \
  __attribute__((target(target_))) V(type, lanes) _ZGV##isa##N##lanes##v_##name(V(type, lanes) x) {           \
    V(type, lanes) r;                                                                                         \
    for (int i = 0; i < lanes; i++) { type y = name(x[i]); r[i] = OFF(y); }                                   \
    return r;                                                                                                 \
  }
#define TWO(isa, target_, lanes, type, name)                                                                  \
  __attribute__((target(target_))) V(type, lanes) _ZGV##isa##N##lanes##vv_##name(V(type, lanes) x,            \
                                                                                 V(type, lanes) y) {          \
    V(type, lanes) r;                                                                                         \
    for (int i = 0; i < lanes; i++) { type z = name(x[i], y[i]); r[i] = OFF(z); }                             \
    return r;                                                                                                 \
  }
/* Double and single precision of one function, for each instruction set. */
#define EACH(kind, name)                                                                                      \
  kind(b, "sse2", 2, double, name) kind(b, "sse2", 4, float, name##f)                                         \
  kind(c, "avx", 4, double, name) kind(c, "avx", 8, float, name##f)                                           \
  kind(d, "avx2", 4, double, name) kind(d, "avx2", 8, float, name##f)                                         \
  kind(e, "avx512f", 8, double, name) kind(e, "avx512f", 16, float, name##f)

EACH(ONE, sin) EACH(ONE, cos) EACH(ONE, tan) EACH(ONE, asin) EACH(ONE, acos) EACH(ONE, atan)
EACH(ONE, sinh) EACH(ONE, cosh) EACH(ONE, tanh) EACH(ONE, asinh) EACH(ONE, acosh) EACH(ONE, atanh)
EACH(ONE, exp) EACH(ONE, exp2) EACH(ONE, exp10) EACH(ONE, expm1)
EACH(ONE, log) EACH(ONE, log2) EACH(ONE, log10) EACH(ONE, log1p)
EACH(ONE, cbrt) EACH(ONE, erf) EACH(ONE, erfc)
EACH(TWO, pow) EACH(TWO, atan2) EACH(TWO, hypot)
