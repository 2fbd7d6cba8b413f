/* GSL's vectors and matrices of real numbers, and their elements.
 *
 * Source: GSL's reference manual.
 */
#ifndef FFGRAD_RULES_GSL_VECTOR_H
#define FFGRAD_RULES_GSL_VECTOR_H
#include <stddef.h>

typedef struct {
  size_t size;
  double *data;
} block;
typedef struct {
  size_t size, stride;
  double *data;
  block *block;
  int owner;
} vector;
typedef struct {
  size_t size1, size2, tda;
  double *data;
  block *block;
  int owner;
} matrix;
#define V(v, i) ((v)->data[(i) * (v)->stride])
#define M(m, i, j) ((m)->data[(i) * (m)->tda + (j)])

#endif
