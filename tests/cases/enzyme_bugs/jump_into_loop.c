/* Duff's device: a loop that is entered in its middle, at one of four places. Enzyme's reverse pass did not end. */
void unrolls(const double *x, int n, double *y) {
  const double *from = x;
  double s = 1;
  int rounds = (n + 3) / 4;
  switch (n % 4) {
    case 0:
      do {
        s += *from * *from;
        from++;
        case 3:
          s *= *from++;
        case 2:
          s += 0.5 * *from++;
        case 1:
          s += *from * s;
          from++;
      } while (--rounds > 0);
  }
  for (int i = 0; i < n; i++) y[i] = s * x[i];
}
