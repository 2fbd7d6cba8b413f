// Splits the interval of the largest weight at its middle, four times: what describes it has no value before the first one is found.
double interval_splits(const double *x, const double *weight, int n) {
  int length[8] = {n - 2}, pieces = 1;
  double sum = 0;
  for (int step = 0; step < 4; step++) {
    int begin = 0, found = 0, largest, points, start;
    double most = -1e300;
    for (int i = 0; i < pieces; i++) {
      if (most < weight[i] && length[i] != 0) {
        most = weight[i];
        largest = i;
        points = length[i];
        start = begin;
        found = 1;
      }
      begin += length[i] + 1;
    }
    if (!found) break;
    int half = points / 2 + 1;
    for (int i = pieces; i > largest + 1; i--) length[i] = length[i - 1];
    length[largest] = half - 1;
    length[largest + 1] = points - half;
    pieces++;
    sum += most * x[start + half] * x[start + half];
  }
  return sum;
}
