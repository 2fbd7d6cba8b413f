/* Cases of a switch that are empty for Enzyme: an adjoint was added once for each. */
/* signature=x[n] -> return | shape=number | real=double | seed=95653 */

static real h0_p95653(real a, real b, int k) {
  real c2[2]; c2[0] = a * b; c2[1] = b - a;
  if (k <= 0) return (((c2[(((k * 4 + k) * 2 + 9)) % 2] / ((real)1.5 + a * a)) * c2[(k) % 2])) / (real)2.5;
  return TANH((a * c2[(9) % 2]) + (real)0.5 * h0_p95653(b, a * (real)0.9, k - 1));
}

static real h1_p95653(real a, real b, int k) {
  real c2[2]; c2[0] = a * b; c2[1] = b - a;
  for (int i = 0; i < k; i++) { a = (real)0.3 * ((POW((real)1.2 + a * a, TANH((real)(k) * (real)0.07)) / ((real)1.5 + a * a))); if (LESS(a, b)) return a * b; b = b * (real)0.9; }
  return ((LESS(c2[(2) % 2], c2[(((5 % 2) + k)) % 2])) ? a : c2[(k) % 2]);
}

real p95653(const real *x, int n) {
real y[5]; for (int z = 0; z < 5; z++) y[z] = x[z % n] * (real)0.5;
real t1[9], t1c[9];
for (int i2 = 0; i2 < 9; i2++) t1[i2] = ((LOGP(y[((n >> 1)) % 5]) + TANH(x[(i2) % n]))) / (real)2.5;
memcpy(t1c, t1, sizeof t1);
real v3 = (POW((real)1.2 + (((real)((n % 3)) * (real)0.07 * (real)((8 ^ 7)) * (real)0.07) * y[(((7 % 5) + (n * 2 + 2))) % 5]) * (((real)((n % 3)) * (real)0.07 * (real)((8 ^ 7)) * (real)0.07) * y[(((7 % 5) + (n * 2 + 2))) % 5]), TANH(ATAN((real)1.468)))) / (real)2.5;
switch ((n) % 4) {
case 0: {
t1[(n) % 9] *= SIN(TANH(((SOFT(v3) - t1c[(2) % 9]) - (v3 + v3))));
} 
case 1: {
t1c[(((7 ^ 9) * 4 + 7)) % 9] += (POW((real)1.2 + ((v3 - v3) + (x[(((4 % 2) >> 1)) % n] - (real)-0.491)) * ((v3 - v3) + (x[(((4 % 2) >> 1)) % n] - (real)-0.491)), TANH(TANH(v3)))) / (real)2.5;
t1[(1) % 9] -= SIN((SIN((v3 + (real)-1.091)) * ((real)-1.247 - x[(5) % n])));
} break;
case 2: {
v3 -= TANH((((y[(((7 ^ n) + (2 >> 1))) % 5] - t1c[(((4 * 2 + n) + (2 ^ 7))) % 9]) + v3) - v3));
t1c[(((n / 3) * 5 + 6)) % 9] = TANH(FABS(h1_p95653(h0_p95653(v3, (real)((6 ^ 1)) * (real)0.07, 4), t1c[(n) % 9], 3)));
} 
default: {
y[((4 / 2)) % 5] = y[((4 / 2)) % 5] * (real)0.7 + (real)0.3 * ((((v3 * v3) + ((real)1.441 + v3)) * FMIN(POW((real)1.2 + v3 * v3, TANH(t1c[(((9 + n) * 4 + n)) % 9])), (((n) % 3 == 1) ? v3 : t1c[(n) % 9]))));
t1c[(((5 / 4) * 2 + (8 >> 1))) % 9] += TANH(((ROOT(v3) / ((real)1.5 + (real)1.321 * (real)1.321)) * LOGP((((n) % 3 == 1) ? x[(2) % n] : v3))));
}
}
return y[0] + TANH(y[1]) * y[2] - y[3] * y[4];
}
