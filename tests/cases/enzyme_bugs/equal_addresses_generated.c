/* Two loads with equal address recurrences in different loops shared one cache: wrong by 1e-7 and more. */
/* signature=x[n], w[n] -> y[n] | shape=two_inputs | real=double | seed=72011 */

void p72011(const real *x, const real *w, int n, real *y) {
for (int z = 0; z < n; z++) y[z] = (real)0.1 * x[z];
real v1 = ((SOFT((x[(((1 ^ 7) / 4)) % n] * y[(6) % n])) - y[(((n / 3) >> 1)) % n])) / (real)2.5;
{ real e2 = y[((n * 5 + 6)) % n]; y[((n * 5 + 6)) % n] = y[(n) % n]; y[(n) % n] = e2; }
for (int i3 = 0; i3 < n; i3++) {
for (int i4 = 0; i4 < n; i4++) {
v1 *= SIN(((((x[(n) % n] - v1) * (y[(((i4 ^ i4) + i3)) % n] * x[(((1 % 5) >> 1)) % n])) * COS(y[(i4) % n]))) / (real)2.5);
y[(((i4 + n) / 3)) % n] += (real)0.3 * ((FMIN(((real)((i3 + i4)) * (real)0.07 + x[(i4) % n]), (real)1.396) + (x[(2) % n] * v1)));
real v5 = TANH(((TANH(x[(((4 >> 1) + 6)) % n]) / ((real)1.5 + ((real)1.241 * v1) * ((real)1.241 * v1))) * POW((real)1.2 + (w[(((i3 >> 1) / 2)) % n] / ((real)1.5 + (real)0.790 * (real)0.790)) * (w[(((i3 >> 1) / 2)) % n] / ((real)1.5 + (real)0.790 * (real)0.790)), TANH(SOFT(v1)))));
}
}
}
