/* The energy of atoms that attract and repel one another as argon does (Lennard-Jones), in two dimensions, and a wall around them.
 * There are no forces here: they are minus the gradient of this function.
 */

/* Beyond `reach` atoms do not see each other; the shift makes the energy and its slope zero there. */
static double pair(double r2, double reach) {
  double s6 = 1 / (r2 * r2 * r2), c2 = 1 / (reach * reach), c6 = c2 * c2 * c2;
  double at_reach = 4 * (c6 * c6 - c6), slope = (-48 * c6 * c6 + 24 * c6) * c2; /* by r^2, doubled */
  return 4 * (s6 * s6 - s6) - at_reach - slope * (r2 - reach * reach) / 2;
}

double energy(const double *place, int n, double radius, double reach) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    const double *a = place + 2 * i;
    double out = a[0] * a[0] + a[1] * a[1] - radius * radius;
    if (out > 0) sum += 0.02 * out * out;
    for (int j = 0; j < i; j++) {
      const double *b = place + 2 * j;
      double dx = a[0] - b[0], dy = a[1] - b[1], r2 = dx * dx + dy * dy;
      if (r2 < reach * reach) sum += pair(r2, reach);
    }
  }
  return sum;
}
