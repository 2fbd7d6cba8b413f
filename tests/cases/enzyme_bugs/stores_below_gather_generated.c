/* LLVM moved stores to a local array below a gather that reads it, on CPUs with AVX-512: the primal itself was wrong. */
/* signature=x[n] -> return | shape=number | real=double | seed=40495 */
struct s_h0_p40495 { real p; real q[2]; int m; };
static void u_h0_p40495(struct s_h0_p40495 *s) { s->p = s->p * s->q[1] + s->q[0]; s->q[s->m % 2] = SIN(s->p); s->m++; }
static real h0_p40495(real a, real b, int k) {
  real c2[2]; c2[0] = a * b; c2[1] = b - a;
  struct s_h0_p40495 s; s.p = a; s.q[0] = (real)0.3 * (ERF((a - c2[(((k >> 1) / 5)) % 2]))); s.q[1] = b; s.m = k;
  for (int i = 0; i < 1; i++) u_h0_p40495(&s);
  return s.p + s.q[0] * s.q[1];
}

static void h1_p40495(real *p, const real *q, int m, real s) {
  for (int i = m - 1; i >= 0; i--) { p[i] += (real)0.3 * (((s / ((real)1.5 + p[((5 ^ (2 % 3))) % m] * p[((5 ^ (2 % 3))) % m])) * POW((real)1.2 + (real)((i >> 1)) * (real)0.07 * (real)((i >> 1)) * (real)0.07, TANH(s)))); }
}

real p40495(const real *x, int n) {
real y[5]; for (int z = 0; z < 5; z++) y[z] = x[z % n] * (real)0.5;
real t1[9];
for (int i2 = 0; i2 < 9; i2++) t1[i2] = SIN(((y[(((n ^ i2) + (n + n))) % 5] + (real)0.035) * (real)((8 * 4 + 9)) * (real)0.07));
real t3[7], t3c[7];
for (int i4 = 0; i4 < 7; i4++) t3[i4] = (real)0.3 * (h0_p40495((y[(((i4 / 5) ^ i4)) % 5] + (real)((7 + i4)) * (real)0.07), t1[(((4 >> 1) * 3 + (n * 5 + 5))) % 9], 1));
memcpy(t3c, t3, sizeof t3);
y[(((9 ^ n) % 2)) % 5] += (FABS(((x[(n) % n] * y[(0) % 5]) * BELL(t3c[(((n * 5 + 8) / 3)) % 7])))) / (real)2.5;
for (int i5 = n - 1; i5 >= 0; i5--) {
{ real e6 = y[(n) % 5]; y[(n) % 5] = t3[((i5 * 4 + (n * 3 + n))) % 7]; t3[((i5 * 4 + (n * 3 + n))) % 7] = e6; }
int d7[6];
for (int j = 0; j < 6; j++) d7[j] = (j * 6 + i5) % 6;
for (int j = 0; j < 6; j++) y[d7[j] % 5] += SIN(t3c[d7[d7[j]] % 7]) * t3[(i5) % 7];
h1_p40495(y, t3, MIN(5, 7), (real)(i5) * (real)0.07);
}
int d8[5];
for (int j = 0; j < 5; j++) d8[j] = (j * 2 + n) % 5;
for (int j = 0; j < 5; j++) t3[d8[j] % 7] += SIN(t1[d8[d8[j]] % 9]) * t1[(n) % 9];
t1[((5 * 2 + (n ^ 2))) % 9] -= (real)0.3 * (FMIN(POW((real)1.2 + (t1[(n) % 9] - (real)(n) * (real)0.07) * (t1[(n) % 9] - (real)(n) * (real)0.07), TANH(t1[(5) % 9])), (FMIN(x[(((n + n) % 5)) % n], t1[(((n >> 1) % 4)) % 9]) - (t3[(2) % 7] * t1[(((8 + n) / 3)) % 9]))));
if (LESS(t3[(((7 % 4) / 3)) % 7], t3[(((4 * 4 + 7) / 5)) % 7])) {
for (int i9 = 1; i9 < ((n + n)) % 5 + 1; i9 += 2) {
real v10 = (real)0.3 * (((((n / 2)) % 3 == 1) ? COS(FMAX(t1[(((n >> 1) + n)) % 9], (real)-0.636)) : (((LESS(t3[((i9 >> 1)) % 7], (real)((8 ^ n)) * (real)0.07)) ? y[(((4 * 5 + n) + (n >> 1))) % 5] : t3[((n >> 1)) % 7]) * ((real)((6 + n)) * (real)0.07 + y[(i9) % 5]))));
}
real v11 = SIN(ATAN(TANH(ATAN(t1[(((9 % 3) + (n % 3))) % 9]))));
}
return y[0] + TANH(y[1]) * y[2] - y[3] * y[4];
}
