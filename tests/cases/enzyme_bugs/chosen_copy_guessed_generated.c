/* As chosen_copy: a copy of a value loaded through a select of pointers. Where Enzyme guessed its type, a gradient was wrong, with a warning. */
/* signature=x[n], w[n] -> y[n] | shape=two_inputs | real=double | seed=52668 */
static __attribute__((noinline)) void h0_p52668(real *p, const real *q, int m, real s) {
  for (int i = m - 1; i >= 0; i--) { p[i] = ((BELL(s) + (p[(((i ^ m) % 2)) % m] - s))) / (real)2.5; }
}

static real h1_p52668(real a, real b, int k) {
  real c2[2]; c2[0] = a * b; c2[1] = b - a;
  if (k <= 0) return SIN((FABS((real)-0.668) + (c2[(0) % 2] + b)));
  return TANH(SOFT(b) + (real)0.5 * h1_p52668(b, a * (real)0.9, k - 1));
}

static __attribute__((noinline)) real h2_p52668(real a, real b, int k) {
  real c2[2]; c2[0] = a * b; c2[1] = b - a;
  (void)k; return (real)0.3 * (((b - (real)(2) * (real)0.07) + TANH(b))) + ROOT(b);
}

struct s_h3_p52668 { real p; real q[2]; int m; };
static void u_h3_p52668(struct s_h3_p52668 *s) { s->p = s->p * s->q[1] + s->q[0]; s->q[s->m % 2] = SIN(s->p); s->m++; }
static real h3_p52668(real a, real b, int k) {
  real c2[2]; c2[0] = a * b; c2[1] = b - a;
  struct s_h3_p52668 s; s.p = a; s.q[0] = (TANH((c2[(((7 % 3) >> 1)) % 2] / ((real)1.5 + b * b)))) / (real)2.5; s.q[1] = b; s.m = k;
  for (int i = 0; i < 3; i++) u_h3_p52668(&s);
  return s.p + s.q[0] * s.q[1];
}

void p52668(const real *x, const real *w, int n, real *y) {
for (int z = 0; z < n; z++) y[z] = (real)0.1 * x[z];
real *t1 = (real *)malloc(6 * sizeof(real));
for (int i2 = 0; i2 < 6; i2++) t1[i2] = SIN(((x[(((i2 * 5 + n) >> 1)) % n] - (real)1.376) * y[(((n ^ n) / 5)) % n]));
real t3[4]; for (int z = 0; z < 4; z++) t3[z] = (real)0.0;
for (int i4 = 0; i4 < 4; i4++) t3[i4] += (real)0.3 * (((LESS(t1[(0) % 6], y[(n) % n])) ? ((real)((4 * 4 + n)) * (real)0.07 - x[(((4 + 5) ^ (7 / 5))) % n]) : (t1[(1) % 6] + t1[(n) % 6])));
int i5 = 0;
while (i5 < 2 && LESS(y[(((4 % 2) ^ (n * 3 + 3))) % n], (real)0.9)) {
h0_p52668(t1, x, MIN(6, n), t1[(((n * 3 + n) + (n + n))) % 6]);
{ real e6 = t1[(((1 ^ 1) + (9 ^ 7))) % 6]; t1[(((1 ^ 1) + (9 ^ 7))) % 6] = y[(n) % n]; y[(n) % n] = e6; }
y[((i5 % 5)) % n] = SIN(POW((real)1.2 + ROOT((w[(i5) % n] * y[(((n % 3) % 2)) % n])) * ROOT((w[(i5) % n] * y[(((n % 3) % 2)) % n])), TANH(w[(((6 * 3 + 5) >> 1)) % n])));
i5++;
}
y[((0 % 2)) % n] = y[((0 % 2)) % n] * (real)0.7 + (((BELL(w[(7) % n]) - ATAN(y[(8) % n])) * t3[((7 >> 1)) % 4])) / (real)2.5;
y[(((7 * 3 + n) % 4)) % n] = y[(((7 * 3 + n) % 4)) % n] * (real)0.7 + SIN(h1_p52668(((t3[((n % 3)) % 4] * t3[(((1 % 4) / 4)) % 4]) - x[((4 ^ 7)) % n]), y[(n) % n], 4));
switch ((((1 / 2) + (6 + n))) % 4) {
case 0: {
t3[(((n >> 1) * 4 + (n ^ 3))) % 4] *= SIN(SIN((((w[(((n >> 1) % 3)) % n] * (real)-0.425) / ((real)1.5 + (t3[(8) % 4] - t3[(((n + 0) >> 1)) % 4]) * (t3[(8) % 4] - t3[(((n + 0) >> 1)) % 4]))) * ERF((real)(n) * (real)0.07))));
} 
case 1: {
t1[(((n ^ n) * 5 + n)) % 6] -= TANH(ROOT(((y[(0) % n] * (real)((9 / 2)) * (real)0.07) - (real)0.702)));
} break;
case 2: {
t1[(((1 / 5) * 4 + (n + n))) % 6] += TANH(ATAN(FABS((w[(((3 ^ n) % 5)) % n] - x[(((n >> 1) * 2 + (5 % 5))) % n]))));
t1[((n + (n >> 1))) % 6] = (((real (*[2])(real, real, int)){h2_p52668, h2_p52668}[(n) % 2])(SIN((t3[((n * 5 + (6 ^ n))) % 4] * w[(((8 + n) / 2)) % n])), (real)(6) * (real)0.07, 1)) / (real)2.5;
} break;
default: {
t3[(n) % 4] += TANH((h3_p52668((x[(((n % 4) ^ (7 >> 1))) % n] * y[((n + (7 / 4))) % n]), t3[(((2 % 3) * 4 + 8)) % 4], 3) * ERF((t1[(((n ^ 5) % 2)) % 6] - (real)((0 >> 1)) * (real)0.07))));
y[(2) % n] += (real)0.3 * ((ATAN(((LESS(w[(n) % n], (real)0.029)) ? w[(((3 >> 1) % 3)) % n] : t3[((n * 3 + (n * 5 + n))) % 4])) + (real)0.548));
}
}
free(t1);
}
