/* Two loads of one address, with a call in between that writes there, were merged: wrong where n is 9. */
/* signature=x[n], a -> y[n] | shape=scalar | real=double | seed=61655 */

static __attribute__((noinline)) void h0_p61655(real *p, const real *q, int m, real s) {
  for (int i = 0; i < m; i += 2) { p[i] = (SOFT((q[(8) % m] - s))) / (real)2.5; }
}

struct s_h1_p61655 { real p; real q[2]; int m; };
static void u_h1_p61655(struct s_h1_p61655 *s) { s->p = s->p * s->q[1] + s->q[0]; s->q[s->m % 2] = SIN(s->p); s->m++; }
static real h1_p61655(real a, real b, int k) {
  real c2[2]; c2[0] = a * b; c2[1] = b - a;
  struct s_h1_p61655 s; s.p = a; s.q[0] = (((c2[(((k / 3) / 4)) % 2] * a) - BELL(c2[(((4 / 4) ^ 0)) % 2]))) / (real)2.5; s.q[1] = b; s.m = k;
  for (int i = 0; i < 1; i++) u_h1_p61655(&s);
  return s.p + s.q[0] * s.q[1];
}

void p61655(const real *x, real a, int n, real *y) {
for (int z = 0; z < n; z++) y[z] = (real)0.1 * x[z];
real t1[7];
for (int i2 = 0; i2 < 7; i2++) t1[i2] = TANH((BELL(a) / ((real)1.5 + (x[((i2 % 4)) % n] + a) * (x[((i2 % 4)) % n] + a))));
real t3[4];
for (int i4 = 0; i4 < 4; i4++) t3[i4] = (real)0.3 * (((a + t1[(((n ^ i4) * 3 + (i4 >> 1))) % 7]) + (((((n / 3) / 5)) % 4 == 1) ? x[((n * 2 + (n * 3 + n))) % n] : t1[(((1 / 4) % 2)) % 7])));
if (LESS(a, t1[(n) % 7])) {
h0_p61655(t1, y, MIN(7, n), y[((9 * 2 + (2 % 2))) % n]);
y[(n) % n] -= TANH(((((real)0.659 - a) + ((real)(n) * (real)0.07 - t1[(n) % 7])) + ((t1[((n + (8 ^ n))) % 7] - a) - a)));
t3[(((8 >> 1) + 7)) % 4] += (FMIN(FABS((a - y[((3 >> 1)) % n])), t1[((2 % 5)) % 7])) / (real)2.5;
} else {
if (LESS(a, x[(n) % n])) {
switch ((((n % 4) ^ (n + n))) % 4) {
case 0: {
y[(8) % n] *= SIN(TANH(((LOGP((real)((n + 3)) * (real)0.07) * (y[(((4 ^ 0) % 2)) % n] * a)) / ((real)1.5 + t3[(((n / 3) * 2 + 3)) % 4] * t3[(((n / 3) * 2 + 3)) % 4]))));
y[(((6 / 5) % 4)) % n] = TANH((COS(POW((real)1.2 + a * a, TANH(a))) / ((real)1.5 + x[(((n ^ n) * 5 + (0 + 9))) % n] * x[(((n ^ n) * 5 + (0 + 9))) % n])));
} break;
case 1: {
real v5 = SIN(FABS(((a + x[(((n + 9) % 4)) % n]) + a)));
} break;
case 2: {
t1[(0) % 7] += (COS(FABS(COS(x[(((2 * 5 + 4) >> 1)) % n])))) / (real)2.5;
} break;
default: {
t3[((n >> 1)) % 4] *= SIN((real)0.3 * ((ATAN((a + a)) * y[(((8 >> 1) % 3)) % n])));
t1[(n) % 7] += (((LESS(a, t1[((9 ^ (1 ^ n))) % 7])) ? (FMAX(y[(((5 ^ 5) % 3)) % n], a) + ((real)(4) * (real)0.07 + a)) : (((((8 * 2 + 1) ^ (5 * 2 + n))) % 4 == 1) ? h1_p61655(a, (real)-0.041, 1) : a))) / (real)2.5;
}
}
t3[(((9 >> 1) >> 1)) % 4] = (((ATAN(x[((6 ^ (6 + 5))) % n]) + (real)-1.326) * ((a * a) * (a / ((real)1.5 + a * a))))) / (real)2.5;
real v6 = ((((LESS(a, t1[((9 / 2)) % 7])) ? ATAN((real)0.775) : y[(((1 ^ n) * 5 + 5)) % n]) * (real)1.387)) / (real)2.5;
}
t3[((7 >> 1)) % 4] = (real)0.3 * (((POW((real)1.2 + a * a, TANH(a)) + ((LESS(a, a)) ? t3[((7 / 5)) % 4] : a)) * a));
t3[(((8 % 2) ^ (n * 4 + n))) % 4] += (real)0.3 * (COS(LOGP((t1[(((n + n) * 4 + (3 / 3))) % 7] * a))));
}
t3[((1 + (4 >> 1))) % 4] -= TANH((((a - a) + COS(t3[(5) % 4])) + (y[(n) % n] * a)));
t3[(((n ^ n) >> 1)) % 4] += ((LOGP((t3[(((4 * 5 + 1) + (n ^ n))) % 4] - x[((9 ^ (n / 5))) % n])) * (a * t1[((0 + 8)) % 7]))) / (real)2.5;
}
