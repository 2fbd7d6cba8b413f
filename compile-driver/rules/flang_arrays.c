/* Transformational functions that flang leaves to its runtime library, written as loops that Enzyme can
 * differentiate. (At -O2 flang inlines most others itself: matmul, dot_product, sum, transpose, cshift, ...)
 *
 * Source: Fortran 2018 (ISO/IEC 1539-1:2018), 16.9: 16.9.141 (norm2), 16.9.144 (pack), 16.9.163 (reshape), 16.9.180 (spread),
 * 16.9.184 (sum), 16.9.198 (unpack); 16.9.136 and 16.9.138 (mod, modulo); 16.9.166 (scale); fraction, set_exponent, rrspacing and
 * erfc_scaled by their names there. NIST Digital Library of Mathematical Functions, dlmf.nist.gov: 7.12.1 (erfc of large arguments).
 */
#include <ffgrad/derivatives.h>
#include <ffgrad/flang.h>
#include <math.h>

FFGRAD_REPLACES(_FortranANorm2_4, ffgrad_flang_norm2_4)
FFGRAD_REPLACES(_FortranANorm2_8, ffgrad_flang_norm2_8)
FFGRAD_REPLACES(_FortranANorm2Dim, ffgrad_flang_norm2_dim)
FFGRAD_REPLACES(_FortranASumDim, ffgrad_flang_sum_dim)
FFGRAD_REPLACES(_FortranASpread, ffgrad_flang_spread)
FFGRAD_REPLACES(_FortranAPack, ffgrad_flang_pack)
FFGRAD_REPLACES(_FortranAUnpack, ffgrad_flang_unpack)
FFGRAD_REPLACES(_FortranAReshape, ffgrad_flang_reshape)
FFGRAD_REPLACES(_FortranAModReal4, ffgrad_flang_mod_4)
FFGRAD_REPLACES(_FortranAModReal8, ffgrad_flang_mod_8)
FFGRAD_REPLACES(_FortranAModuloReal4, ffgrad_flang_modulo_4)
FFGRAD_REPLACES(_FortranAModuloReal8, ffgrad_flang_modulo_8)
FFGRAD_REPLACES(_FortranAScale4, ffgrad_flang_scale_4)
FFGRAD_REPLACES(_FortranAScale8, ffgrad_flang_scale_8)
FFGRAD_REPLACES(_FortranAFraction4, ffgrad_flang_fraction_4)
FFGRAD_REPLACES(_FortranAFraction8, ffgrad_flang_fraction_8)
FFGRAD_REPLACES(_FortranASetExponent4, ffgrad_flang_set_exponent_4)
FFGRAD_REPLACES(_FortranASetExponent8, ffgrad_flang_set_exponent_8)
FFGRAD_REPLACES(_FortranARRSpacing4, ffgrad_flang_rrspacing_4)
FFGRAD_REPLACES(_FortranARRSpacing8, ffgrad_flang_rrspacing_8)
FFGRAD_REPLACES(_FortranAErfcScaled4, ffgrad_flang_erfc_scaled_4)
FFGRAD_REPLACES(_FortranAErfcScaled8, ffgrad_flang_erfc_scaled_8)

/* Without the scaling that keeps squares of huge numbers finite. */
FLANG_RULE double ffgrad_flang_norm2_8(const flang_box *x, const char *file, int line, int dim) {
  double sum = 0;
  int64_t count = flang_elements(x);
  for (int64_t k = 0; k < count; k++) {
    double v = *(const double *)(x->base + flang_offset(x, k));
    sum += v * v;
  }
  return sqrt(sum);
}

FLANG_RULE float ffgrad_flang_norm2_4(const flang_box *x, const char *file, int line, int dim) {
  double sum = 0;
  int64_t count = flang_elements(x);
  for (int64_t k = 0; k < count; k++) {
    double v = *(const float *)(x->base + flang_offset(x, k));
    sum += v * v;
  }
  return (float)sqrt(sum);
}

/* The shape of `x` without dimension `dim` (from 1), and memory for it. */
FLANG_INLINE void reduce_shape(flang_box *result, const flang_box *x, int dim) {
  flang_establish(result, x->type, x->size, (uint8_t)(x->rank - 1));
  int to = 0;
  FLANG_EACH(d, x->rank) {
    if (d == dim - 1) continue;
    result->dim[to].lower = 1;
    result->dim[to].extent = x->dim[d].extent;
    to++;
  }
  flang_allocate(result);
}

/* Bytes to the first element of the line of `x` along `dim` that becomes element k of the result. */
FLANG_INLINE int64_t line_start(const flang_box *x, int dim, int64_t k) {
  int64_t offset = 0;
  FLANG_EACH(d, x->rank) {
    if (d == dim - 1) continue;
    offset += k % x->dim[d].extent * x->dim[d].stride;
    k /= x->dim[d].extent;
  }
  return offset;
}

FLANG_RULE void ffgrad_flang_norm2_dim(flang_box *result, const flang_box *x, int dim, const char *file, int line) {
  reduce_shape(result, x, dim);
  int64_t lines = flang_elements(result), length = x->dim[dim - 1].extent, step = x->dim[dim - 1].stride;
  for (int64_t k = 0; k < lines; k++) {
    const char *at = x->base + line_start(x, dim, k);
    double sum = 0;
    for (int64_t i = 0; i < length; i++) {
      double v = x->type == FLANG_FLOAT ? *(const float *)(at + i * step) : *(const double *)(at + i * step);
      sum += v * v;
    }
    if (x->type == FLANG_FLOAT) ((float *)result->base)[k] = (float)sqrt(sum);
    else ((double *)result->base)[k] = sqrt(sum);
  }
}

FLANG_RULE void ffgrad_flang_sum_dim(flang_box *result, const flang_box *x, int dim, const char *file, int line,
                                     const flang_box *mask) {
  if (x->type != FLANG_DOUBLE && x->type != FLANG_FLOAT) ffgrad_flang_refuse();
  reduce_shape(result, x, dim);
  int64_t lines = flang_elements(result), length = x->dim[dim - 1].extent, step = x->dim[dim - 1].stride;
  bool masked = mask && mask->base, scalar = masked && mask->rank == 0;
  bool all = !masked || (scalar && flang_is_true(mask, 0));
  for (int64_t k = 0; k < lines; k++) {
    const char *at = x->base + line_start(x, dim, k);
    double sum = 0;
    for (int64_t i = 0; i < length; i++) {
      bool counts = all;
      if (masked && !scalar) {
        flang_box element = *mask;
        element.rank = 0;
        element.base += line_start(mask, dim, k) + i * mask->dim[dim - 1].stride;
        counts = flang_is_true(&element, 0);
      }
      if (counts) sum += x->type == FLANG_FLOAT ? *(const float *)(at + i * step) : *(const double *)(at + i * step);
    }
    if (x->type == FLANG_FLOAT) ((float *)result->base)[k] = (float)sum;
    else ((double *)result->base)[k] = sum;
  }
}

FLANG_RULE void ffgrad_flang_spread(flang_box *result, const flang_box *source, int dim, int64_t copies,
                                    const char *file, int line) {
  if (!flang_is_number(source)) ffgrad_flang_refuse();
  flang_establish(result, source->type, source->size, (uint8_t)(source->rank + 1));
  int64_t before = 1;
  int from = 0;
  FLANG_EACH(d, result->rank) {
    bool is_new = d == dim - 1;
    result->dim[d].extent = is_new ? (copies > 0 ? copies : 0) : source->dim[from++].extent;
    if (d < dim - 1) before *= result->dim[d].extent;
  }
  flang_allocate(result);
  int64_t count = flang_elements(result), size = (int64_t)result->size, repeat = result->dim[dim - 1].extent;
  for (int64_t k = 0; k < count; k++) {
    int64_t of = k / (before * repeat) * before + k % before;
    flang_copy_element(result, result->base + k * size, source->base + flang_offset(source, of));
  }
}

FLANG_RULE void ffgrad_flang_pack(flang_box *result, const flang_box *source, const flang_box *mask,
                                  const flang_box *vector, const char *file, int line) {
  if (!flang_is_number(source)) ffgrad_flang_refuse();
  bool filled = vector && vector->base;
  int64_t all = flang_elements(source), chosen = 0, size = (int64_t)source->size;
  for (int64_t k = 0; k < all; k++) chosen += flang_is_true(mask, k);
  flang_establish(result, source->type, source->size, 1);
  result->dim[0].extent = filled ? vector->dim[0].extent : chosen;
  flang_allocate(result);
  int64_t to = 0;
  for (int64_t k = 0; k < all; k++) {
    if (!flang_is_true(mask, k)) continue;
    flang_copy_element(result, result->base + to * size, source->base + flang_offset(source, k));
    to++;
  }
  if (!filled) return;
  for (int64_t k = chosen; k < vector->dim[0].extent; k++)
    flang_copy_element(result, result->base + k * size, vector->base + flang_offset(vector, k));
}

FLANG_RULE void ffgrad_flang_unpack(flang_box *result, const flang_box *vector, const flang_box *mask,
                                    const flang_box *field, const char *file, int line) {
  if (!flang_is_number(vector)) ffgrad_flang_refuse();
  flang_establish(result, vector->type, vector->size, mask->rank);
  FLANG_EACH(d, mask->rank) result->dim[d].extent = mask->dim[d].extent;
  flang_allocate(result);
  int64_t count = flang_elements(result), size = (int64_t)result->size, from = 0;
  for (int64_t k = 0; k < count; k++) {
    if (flang_is_true(mask, k)) {
      flang_copy_element(result, result->base + k * size, vector->base + flang_offset(vector, from));
      from++;
    } else {
      flang_copy_element(result, result->base + k * size, field->base + (field->rank == 0 ? 0 : flang_offset(field, k)));
    }
  }
}

/* Element i of a vector of integers of any kind. */
FLANG_INLINE int64_t integer_at(const flang_box *vector, int64_t i) {
  const char *at = vector->base + i * vector->dim[0].stride;
  switch (vector->size) {
    case 1: return *(const int8_t *)at;
    case 2: return *(const int16_t *)at;
    case 4: return *(const int32_t *)at;
    default: return *(const int64_t *)at;
  }
}

FLANG_RULE void ffgrad_flang_reshape(flang_box *result, const flang_box *source, const flang_box *shape,
                                     const flang_box *pad, const flang_box *order, const char *file, int line) {
  if (!flang_is_number(source)) ffgrad_flang_refuse();
  uint8_t rank = (uint8_t)shape->dim[0].extent;
  flang_establish(result, source->type, source->size, rank);
  FLANG_EACH(d, rank) {
    int64_t extent = integer_at(shape, d);
    result->dim[d].extent = extent > 0 ? extent : 0;
  }
  flang_allocate(result);
  int64_t count = flang_elements(result), given = flang_elements(source);
  int64_t padding = pad && pad->base ? flang_elements(pad) : 0;
  bool ordered = order && order->base;
  for (int64_t k = 0; k < count; k++) {
    /* Subscripts run in the order given: the first of it varies fastest. */
    int64_t rest = k, offset = 0;
    FLANG_EACH(d, rank) {
      int64_t at = ordered ? integer_at(order, d) - 1 : d;
      offset += rest % result->dim[at].extent * result->dim[at].stride;
      rest /= result->dim[at].extent;
    }
    if (k < given) flang_copy_element(result, result->base + offset, source->base + flang_offset(source, k));
    else if (padding) flang_copy_element(result, result->base + offset, pad->base + flang_offset(pad, (k - given) % padding));
  }
}

/* a - p * int(a/p): the sign of a; exact where fmod is, whose derivatives are 1 and -int(a/p). */
FLANG_RULE double ffgrad_flang_mod_8(double a, double p, const char *file, int line) { return fmod(a, p); }
FLANG_RULE float ffgrad_flang_mod_4(float a, float p, const char *file, int line) { return fmodf(a, p); }

/* a - p * floor(a/p): the sign of p. */
FLANG_RULE double ffgrad_flang_modulo_8(double a, double p, const char *file, int line) {
  double rest = fmod(a, p);
  return rest != 0 && (rest < 0) != (p < 0) ? rest + p : rest;
}
FLANG_RULE float ffgrad_flang_modulo_4(float a, float p, const char *file, int line) {
  float rest = fmodf(a, p);
  return rest != 0 && (rest < 0) != (p < 0) ? rest + p : rest;
}

FLANG_RULE double ffgrad_flang_scale_8(double x, int64_t i) {
  return x * ldexp(1.0, i > 4000 ? 4000 : i < -4000 ? -4000 : (int)i);
}
FLANG_RULE float ffgrad_flang_scale_4(float x, int64_t i) {
  return x * ldexpf(1.0f, i > 4000 ? 4000 : i < -4000 ? -4000 : (int)i);
}

/* The fraction of a number is the number times a power of two. */
FLANG_RULE double ffgrad_flang_fraction_8(double x) {
  int exponent;
  return frexp(x, &exponent);
}
FLANG_RULE float ffgrad_flang_fraction_4(float x) {
  int exponent;
  return frexpf(x, &exponent);
}
FLANG_RULE double ffgrad_flang_set_exponent_8(double x, int64_t i) {
  return ffgrad_flang_scale_8(ffgrad_flang_fraction_8(x), i);
}
FLANG_RULE float ffgrad_flang_set_exponent_4(float x, int64_t i) {
  return ffgrad_flang_scale_4(ffgrad_flang_fraction_4(x), i);
}

/* In units of the last place. */
FLANG_RULE double ffgrad_flang_rrspacing_8(double x) { return fabs(ffgrad_flang_fraction_8(x)) * 0x1p53; }
FLANG_RULE float ffgrad_flang_rrspacing_4(float x) { return fabsf(ffgrad_flang_fraction_4(x)) * 0x1p24f; }

/* exp(x^2) erfc(x). Beyond 25, where exp(x^2) overflows, six terms of the asymptotic series, which are exact to the last digit. */
FLANG_RULE double ffgrad_flang_erfc_scaled_8(double x) {
  if (x < 25) return exp(x * x) * erfc(x);
  double t = 1 / (2 * x * x);
  return (1 - t * (1 - 3 * t * (1 - 5 * t * (1 - 7 * t * (1 - 9 * t * (1 - 11 * t)))))) / (x * 1.77245385090551602729816748334);
}
FLANG_RULE float ffgrad_flang_erfc_scaled_4(float x) { return (float)ffgrad_flang_erfc_scaled_8(x); }
