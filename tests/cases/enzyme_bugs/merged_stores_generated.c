/* LLVM merged the last stores of two branches into one through a phi of pointers (local memory, y): reverse mode took primals for adjoints. */
/* signature=x[n], a -> y[n] | shape=scalar | real=double | seed=52031 */
struct s_h0_p52031 { real p; real q[2]; int m; };
static void u_h0_p52031(struct s_h0_p52031 *s) { s->p = s->p * s->q[1] + s->q[0]; s->q[s->m % 2] = SIN(s->p); s->m++; }
static real h0_p52031(real a, real b, int k) {
  real c2[2]; c2[0] = a * b; c2[1] = b - a;
  struct s_h0_p52031 s; s.p = a; s.q[0] = TANH(FABS(((LESS((real)0.920, c2[(((1 >> 1) / 2)) % 2])) ? b : b))); s.q[1] = b; s.m = k;
  for (int i = 0; i < 1; i++) u_h0_p52031(&s);
  return s.p + s.q[0] * s.q[1];
}

void p52031(const real *x, real a, int n, real *y) {
for (int z = 0; z < n; z++) y[z] = (real)0.1 * x[z];
real t1[6]; for (int z = 0; z < 6; z++) t1[z] = (real)0.0;
for (int i2 = 0; i2 < 6; i2++) t1[i2] += ((ERF((real)((n * 2 + i2)) * (real)0.07) * FABS(a))) / (real)2.5;
real t3[9], t3c[9];
for (int i4 = 0; i4 < 9; i4++) t3[i4] = (BELL((a + t1[(((n + 7) % 4)) % 6]))) / (real)2.5;
memcpy(t3c, t3, sizeof t3);
if (LESS(y[(((0 / 4) / 2)) % n], x[(n) % n])) {
t1[(((4 >> 1) + 0)) % 6] = t1[(((4 >> 1) + 0)) % 6] * (real)0.7 + (real)0.3 * (((TANH(x[(n) % n]) + a) * ERF((a - a))));
if (LESS(a, a)) {
int i5 = 0;
do {
y[(n) % n] -= SIN((ROOT(((LESS((real)-0.737, a)) ? a : t3[(0) % 9])) * (((LESS(a, (real)((n ^ n)) * (real)0.07)) ? a : y[(n) % n]) / ((real)1.5 + ((real)-1.178 * a) * ((real)-1.178 * a)))));
} while (++i5 < ((2 >> 1)) % 5 + 1);
for (int i6 = n - 1; i6 >= 0; i6--) {
t3[(((i6 * 2 + n) ^ (n % 4))) % 9] -= (real)0.3 * ((((a * a) + a) - FABS(ROOT(a))));
}
} else {
for (int i7 = 0; i7 < n; i7++) {
t1[(((i7 * 2 + 8) + n)) % 6] = TANH(SOFT(((x[(9) % n] * t1[((5 >> 1)) % 6]) - t3[(((1 / 4) ^ (i7 * 2 + n))) % 9])));
}
t1[(((n / 3) + (5 % 4))) % 6] += TANH((FABS((t1[(((6 >> 1) >> 1)) % 6] * t3c[(3) % 9])) * (((real)((5 + n)) * (real)0.07 / ((real)1.5 + y[(((8 >> 1) + 9)) % n] * y[(((8 >> 1) + 9)) % n])) + h0_p52031(t3[(((n + 9) / 3)) % 9], t3[(((2 ^ 3) >> 1)) % 9], 1))));
t1[(8) % 6] = t1[(8) % 6] * (real)0.7 + ((((t1[(9) % 6] / ((real)1.5 + a * a)) * ROOT(y[((n ^ n)) % n])) * ((real)((7 >> 1)) * (real)0.07 - t1[((n % 3)) % 6]))) / (real)2.5;
}
t3c[(((n ^ 5) / 5)) % 9] = ((((a * t3[((n >> 1)) % 9]) * a) + (real)1.219)) / (real)2.5;
} else {
y[(((n * 2 + n) ^ n)) % n] = TANH(FABS(ROOT((t1[(((9 ^ n) * 3 + 1)) % 6] - a))));
}
}
