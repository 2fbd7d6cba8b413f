// One step of a population that grows to its limit and spreads over the plane (Fisher's equation), with no flow through the rim.
#include <stddef.h>

// c is updated in place: `above` keeps the row before, as it was. `seen` is what sensors measure afterwards.
void spread(double* c, double growth, double diffusion, const int* sensor, int rows, int cols, int sensors, double* above,
            double* seen) {
  for (int j = 0; j < cols; j++) above[j] = c[j];
  for (int i = 0; i < rows; i++) {
    double* row = c + (size_t)i * cols;
    const double* below = i + 1 < rows ? row + cols : row;
    double left = row[0];
    for (int j = 0; j < cols; j++) {
      double here = row[j], right = j + 1 < cols ? row[j + 1] : here;
      double flow = above[j] + below[j] + left + right - 4 * here;
      row[j] = here + diffusion * flow + growth * here * (1 - here);
      above[j] = left = here;
    }
  }
  for (int s = 0; s < sensors; s++) seen[s] = c[sensor[s]];
}
