/* One step of Burgers' equation, u_t + (u^2/2)_x = nu u_xx, on a ring of cells, by finite volumes.
 *
 * `extra[i]` is added to the flux through the face between cells i and i + 1: what a coarse grid cannot see, from whoever knows it. It only moves
 * u from cell to cell, so the sum of u is conserved whatever it is.
 */
void step(const double *u, const double *extra, int n, double h, double nu, double dt, double *v) {
  for (int i = 0; i < n; i++) v[i] = u[i];
  for (int i = 0; i < n; i++) {
    int right = i + 1 < n ? i + 1 : 0;
    double a = u[i], b = u[right];
    double flux = (a * a + a * b + b * b) / 6 - nu * (b - a) / h + extra[i];
    v[i] -= dt / h * flux;
    v[right] += dt / h * flux;
  }
}
