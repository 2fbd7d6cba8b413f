/* Makes a source in single precision one in double precision, to verify its derivatives with.
 *
 * Included before everything else: the library's headers first, so that their declarations stay as they are; then `float` means
 * `double`, and the functions for float are those for double. A header that is included later and cannot be read like this fails to
 * compile, and then there is no such build.
 */
#ifndef FFGRAD_DOUBLE_PRECISION_H
#define FFGRAD_DOUBLE_PRECISION_H

#ifdef __cplusplus
#include <algorithm>
#include <array>
#include <cassert>
#include <cfloat>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>
#else
#include <assert.h>
#include <complex.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#endif

#define float double

#define acosf acos
#define acoshf acosh
#define asinf asin
#define asinhf asinh
#define atan2f atan2
#define atanf atan
#define atanhf atanh
#define cbrtf cbrt
#define ceilf ceil
#define copysignf copysign
#define cosf cos
#define coshf cosh
#define erfcf erfc
#define erff erf
#define exp2f exp2
#define expf exp
#define expm1f expm1
#define fabsf fabs
#define fdimf fdim
#define floorf floor
#define fmaf fma
#define fmaxf fmax
#define fminf fmin
#define fmodf fmod
#define hypotf hypot
#define ldexpf ldexp
#define lgammaf lgamma
#define log10f log10
#define log1pf log1p
#define log2f log2
#define logf log
#define lroundf lround
#define powf pow
#define remainderf remainder
#define rintf rint
#define roundf round
#define sinf sin
#define sinhf sinh
#define sqrtf sqrt
#define tanf tan
#define tanhf tanh
#define tgammaf tgamma
#define truncf trunc

#endif
