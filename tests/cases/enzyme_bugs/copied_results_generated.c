/* Enzyme moved a copy of a call's results to the reverse sweep, but not the loads from the copy: wrong in a branch that the first call does not take. */
/* signature=x[n] -> y[n] | shape=map | real=double | seed=57555 */
static real h0_p57555(real a, real b, int k) {
  real c2[2]; c2[0] = a * b; c2[1] = b - a;
  if (k <= 0) return (((c2[(((k % 4) % 4)) % 2] - a) / ((real)1.5 + c2[(k) % 2] * c2[(k) % 2]))) / (real)2.5;
  return TANH((c2[((4 ^ (k % 3))) % 2] * c2[(((k / 2) * 5 + (5 ^ 0))) % 2]) + (real)0.5 * h0_p57555(b, a * (real)0.9, k - 1));
}

static real h1_p57555(real a, real b, int k) {
  real c2[2]; c2[0] = a * b; c2[1] = b - a;
  (void)k; return SIN((((real)-0.359 * b) / ((real)1.5 + c2[(k) % 2] * c2[(k) % 2]))) + (b - b);
}

void p57555(const real *x, int n, real *y) {
for (int z = 0; z < n; z++) y[z] = (real)0.1 * x[z];
real t1[7], t1c[7];
for (int i2 = 0; i2 < 7; i2++) t1[i2] = (real)0.3 * (SOFT((x[((i2 >> 1)) % n] / ((real)1.5 + y[((1 >> 1)) % n] * y[((1 >> 1)) % n]))));
memcpy(t1c, t1, sizeof t1);
t1c[((8 ^ (2 % 5))) % 7] += SIN(FABS(((y[(((n / 2) / 2)) % n] * t1c[(((n / 2) * 4 + (n / 5))) % 7]) + ((real)((9 % 5)) * (real)0.07 - t1c[(((n * 4 + 9) * 2 + n)) % 7]))));
y[((n ^ n)) % n] *= SIN((((LESS(y[(9) % n], y[(((n / 5) >> 1)) % n])) ? (SOFT(x[(((n * 5 + n) * 3 + (2 / 2))) % n]) * y[(n) % n]) : (t1c[((9 ^ n)) % 7] + x[(n) % n]))) / (real)2.5);
t1[(((2 + 0) + (n + n))) % 7] = (POW((real)1.2 + (ATAN(t1c[(n) % 7]) - h0_p57555(t1[(n) % 7], (real)((n / 5)) * (real)0.07, 2)) * (ATAN(t1c[(n) % 7]) - h0_p57555(t1[(n) % 7], (real)((n / 5)) * (real)0.07, 2)), TANH(h1_p57555(t1c[(((7 / 2) * 2 + (n / 2))) % 7], (real)0.276, 4)))) / (real)2.5;
t1c[(((n * 4 + 4) + 3)) % 7] -= SIN(FMAX(((((n) % 2 == 0) ? (real)-1.378 : t1c[(((7 / 3) >> 1)) % 7]) * y[(((n * 4 + 9) + n)) % n]), (((real)(n) * (real)0.07 / ((real)1.5 + t1[((n * 5 + 3)) % 7] * t1[((n * 5 + 3)) % 7])) - (real)1.227)));
}
