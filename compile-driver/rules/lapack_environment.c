/* What LAPACK says of itself, by ilaenv: block sizes and the sizes from which blocks pay, as the reference LAPACK has them for most routines.
 * Programs allocate work space by them.
 *
 * Source: the reference LAPACK (netlib.org/lapack) for what the numbers mean.
 */
#include <ffgrad/derivatives.h>

FFGRAD_REPLACES(ilaenv_, ffgrad_ilaenv_)

int ffgrad_ilaenv_(const int *what, const char *name, const char *options, const int *n1, const int *n2, const int *n3, const int *n4) {
  switch (*what) {
  case 1: return 64;
  case 2: case 5: return 2;
  case 3: return 128;
  case 4: return 6;
  case 6: return (int)(1.6 * (*n1 < *n2 ? *n1 : *n2));
  case 8: return 50;
  case 9: return 25;
  case 10: case 11: return 1;
  default: return 0;
  }
}
