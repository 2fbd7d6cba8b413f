/* Enzyme marks its cache invariant, while LLVM inlines the arena, which allocates the same block again: a crash. */
/* signature=x[n] -> y[n]; w[2*n] | shape=scratch | real=double | seed=56701 */
struct s_h0_p56701 { real p; real q[2]; int m; };
static void u_h0_p56701(struct s_h0_p56701 *s) { s->p = s->p * s->q[1] + s->q[0]; s->q[s->m % 2] = SIN(s->p); s->m++; }
static real h0_p56701(real a, real b, int k) {
  real c2[2]; c2[0] = a * b; c2[1] = b - a;
  struct s_h0_p56701 s; s.p = a; s.q[0] = SIN(((a * a) * ((LESS(a, b)) ? c2[(2) % 2] : b))); s.q[1] = b; s.m = k;
  for (int i = 0; i < 3; i++) u_h0_p56701(&s);
  return s.p + s.q[0] * s.q[1];
}

static __attribute__((noinline)) real h1_p56701(real a, real b, int k) {
  real c2[2]; c2[0] = a * b; c2[1] = b - a;
  (void)k; return SIN(BELL((((k) % 4 == 1) ? (real)((k / 3)) * (real)0.07 : c2[((k ^ (0 * 2 + k))) % 2]))) + (c2[(((3 >> 1) >> 1)) % 2] + c2[((3 * 5 + (3 % 3))) % 2]);
}

static real h2_p56701(real a, real b, int k) {
  real c2[2]; c2[0] = a * b; c2[1] = b - a;
  (void)k; return (real)0.3 * (POW((real)1.2 + (c2[(((k % 5) ^ (7 * 3 + k))) % 2] / ((real)1.5 + c2[(((4 * 2 + k) ^ (9 % 3))) % 2] * c2[(((4 * 2 + k) ^ (9 % 3))) % 2])) * (c2[(((k % 5) ^ (7 * 3 + k))) % 2] / ((real)1.5 + c2[(((4 * 2 + k) ^ (9 % 3))) % 2] * c2[(((4 * 2 + k) ^ (9 % 3))) % 2])), TANH((c2[(((2 * 5 + k) + k)) % 2] + c2[(((4 * 3 + k) % 5)) % 2])))) + FABS(a);
}

static real h3_p56701(real a, real b, int k) {
  real c2[2]; c2[0] = a * b; c2[1] = b - a;
  if (k <= 0) return TANH((TANH(a) * b));
  return TANH(FMAX(b, b) + (real)0.5 * h3_p56701(b, a * (real)0.9, k - 1));
}

void p56701(const real *x, int n, real *y, real *w) {
for (int z = 0; z < n; z++) y[z] = (real)0.1 * x[z];
for (int j = 0; j < 2 * n; j++) w[j] = x[j % n] * (real)0.3;
real t1[4];
for (int i2 = 0; i2 < 4; i2++) t1[i2] = (real)0.3 * (h0_p56701(((real)(i2) * (real)0.07 / ((real)1.5 + y[((6 / 5)) % n] * y[((6 / 5)) % n])), ROOT(x[((1 >> 1)) % n]), 3));
for (int i3 = 0; i3 < n; i3++) {
int i4 = 0;
while (i4 < n) {
real m5[3][2];
for (int r = 0; r < 3; r++) for (int c = 0; c < 2; c++) m5[r][c] = (real)0.3 * (SOFT((y[(n) % n] - t1[(n) % 4])));
for (int r = 0; r < 3; r++) { real s = (real)0.0; for (int c = 0; c < 2; c++) s += m5[r][c] * x[c % n]; t1[r % 4] += TANH(s); }
{ real e6 = t1[((n ^ i3)) % 4]; t1[((n ^ i3)) % 4] = t1[(n) % 4]; t1[(n) % 4] = e6; }
if (i4 > 3) break;
i4++;
}
switch ((((i3 ^ i3) >> 1)) % 4) {
case 0: {
y[(((i3 / 3) + (i3 + i3))) % n] -= SIN(((((real)-0.940 + x[(((n + 9) / 5)) % n]) * (real)-0.228) * y[(((i3 * 2 + i3) / 5)) % n]));
} 
case 1: {
y[(9) % n] += (real)0.3 * (((real (*[2])(real, real, int)){h1_p56701, h1_p56701}[((i3 >> 1)) % 2])(COS(FABS((real)(7) * (real)0.07)), COS(ROOT((real)1.187)), 2));
} break;
case 2: {
y[((i3 + (i3 * 2 + n))) % n] *= SIN(SIN((((y[(((n ^ n) * 5 + n)) % n] * y[(5) % n]) * (real)((i3 * 3 + n)) * (real)0.07) * (real)((2 + n)) * (real)0.07)));
} break;
default: {
real v7 = (real)0.3 * (BELL(FABS(((real)(n) * (real)0.07 / ((real)1.5 + x[(n) % n] * x[(n) % n])))));
v7 = (POW((real)1.2 + ((v7 - w[(8) % (2 * n)]) - v7) * ((v7 - w[(8) % (2 * n)]) - v7), TANH(POW((real)1.2 + ATAN(v7) * ATAN(v7), TANH(BELL(v7)))))) / (real)2.5;
}
}
t1[((n + (n / 4))) % 4] = SIN((((((9 / 2) ^ (n / 2))) % 2 == 0) ? BELL((y[(i3) % n] * x[(((i3 / 3) ^ 4)) % n])) : LOGP((real)-1.337)));
}
w[(n) % (2 * n)] = w[(n) % (2 * n)] * (real)0.7 + (((h2_p56701(x[(((2 ^ n) % 5)) % n], y[((n + (n % 2))) % n], 2) - h3_p56701((real)((4 >> 1)) * (real)0.07, y[(((1 / 3) >> 1)) % n], 4)) - y[(n) % n])) / (real)2.5;
w[((n + (9 + n))) % (2 * n)] *= SIN(SIN(COS((SOFT(x[(((n / 2) % 3)) % n]) - y[((6 >> 1)) % n]))));
}
