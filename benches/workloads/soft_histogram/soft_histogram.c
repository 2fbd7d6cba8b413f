// A histogram that can be differentiated: every sample counts for every bin, by a Gaussian around the bin's centre.
#include <math.h>

void histogram(const double* x, int n, double width, int bins, double* count) {
  for (int b = 0; b < bins; b++) count[b] = 0.0;
  for (int i = 0; i < n; i++)
    for (int b = 0; b < bins; b++) {
      const double z = (x[i] - (b + 0.5) / bins) / width;
      count[b] += exp(-0.5 * z * z);
    }
}
