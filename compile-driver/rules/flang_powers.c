/* Powers of complex numbers with an integer exponent, which flang leaves to its runtime library, written as loops that Enzyme can
 * differentiate.
 *
 * Source: Fortran 2018 (ISO/IEC 1539-1:2018), 10.1.5.2.2; D. E. Knuth, The Art of Computer Programming, volume 2, 4.6.3, for the powers by squares.
 */
#include <complex.h>
#include <ffgrad/derivatives.h>
#include <ffgrad/flang.h>
#include <stdint.h>

FFGRAD_REPLACES(_FortranAzpowi, ffgrad_flang_zpowi)
FFGRAD_REPLACES(_FortranAzpowk, ffgrad_flang_zpowk)
FFGRAD_REPLACES(_FortranAcpowi, ffgrad_flang_cpowi)
FFGRAD_REPLACES(_FortranAcpowk, ffgrad_flang_cpowk)

/* By its parts: without the checks for infinity of C's own product. */
#define POWER(name, real, re, im)                                                                                                    \
  FLANG_INLINE real complex name(real complex z, int64_t exponent) {                                                                \
    /* The least exponent has no positive one beside it. */                                                                          \
    uint64_t left = exponent < 0 ? -(uint64_t)exponent : (uint64_t)exponent;                                                         \
    real x = re(z), y = im(z), u = 1, v = 0;                                                                                         \
    while (left) {                                                                                                                   \
      if (left & 1) {                                                                                                                \
        real next = u * x - v * y;                                                                                                   \
        v = u * y + v * x;                                                                                                           \
        u = next;                                                                                                                    \
      }                                                                                                                              \
      left >>= 1;                                                                                                                    \
      if (left) {                                                                                                                    \
        real next = x * x - y * y;                                                                                                   \
        y = 2 * x * y;                                                                                                               \
        x = next;                                                                                                                    \
      }                                                                                                                              \
    }                                                                                                                                \
    if (exponent >= 0) return __builtin_complex(u, v);                                                                               \
    real square = u * u + v * v;                                                                                                     \
    return __builtin_complex(u / square, -v / square);                                                                               \
  }

POWER(power, double, creal, cimag)
POWER(powerf, float, crealf, cimagf)

FLANG_RULE double complex ffgrad_flang_zpowi(double complex z, int32_t exponent) { return power(z, exponent); }
FLANG_RULE double complex ffgrad_flang_zpowk(double complex z, int64_t exponent) { return power(z, exponent); }
FLANG_RULE float complex ffgrad_flang_cpowi(float complex z, int32_t exponent) { return powerf(z, exponent); }
FLANG_RULE float complex ffgrad_flang_cpowk(float complex z, int64_t exponent) { return powerf(z, exponent); }
