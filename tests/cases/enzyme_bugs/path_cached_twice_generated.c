/* Reduced: the branch taken is cached twice, in memory that Enzyme marks invariant; wrong where n is not 6. */
/* signature=x[n] -> y[n] | shape=map | real=double | seed=53227 */
void p53227(const real *x, int n, real *y) {
  for (int z = 0; z < n; z++) y[z] = x[z];
  for (int i = 0; i < 3; i++)
    switch (n) {
      case 6: break;
      case 2: y[2] = (real)0.0;
      default: y[1 % n] += ERF(LESS(y[4 % n], y[2 % n]) ? y[1 % n] * (real)0.663 : x[3 % n] * (real)0.07);
    }
}
