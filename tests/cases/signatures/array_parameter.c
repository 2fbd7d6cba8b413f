// Parameters written as C99 arrays, one of them with a variable bound: row norms.
#include <math.h>

void row_norms(int n, const double p[][3], const double metric[3], double norm[n]) {
  for (int i = 0; i < n; i++) {
    double s = 0.0;
    for (int j = 0; j < 3; j++) s += metric[j] * p[i][j] * p[i][j];
    norm[i] = sqrt(s);
  }
}
