/* A value loaded through a select of pointers and copied: Enzyme could not deduce its type, with any pipeline. */
/* signature=x[n], w[n] -> y[n] | shape=two_inputs | real=double | seed=51221 */
static __attribute__((noinline)) void h0_p51221(real *p, const real *q, int m, real s) {
  for (int i = 0; i < m; i += 2) { p[i] = (real)0.3 * ((SIN(q[((6 / 3)) % m]) * (q[((m % 2)) % m] * q[(((i + 6) * 2 + (i * 5 + m))) % m]))); }
}

struct s_h1_p51221 { real p; real q[2]; int m; };
static void u_h1_p51221(struct s_h1_p51221 *s) { s->p = s->p * s->q[1] + s->q[0]; s->q[s->m % 2] = SIN(s->p); s->m++; }
static real h1_p51221(real a, real b, int k) {
  real c2[2]; c2[0] = a * b; c2[1] = b - a;
  struct s_h1_p51221 s; s.p = a; s.q[0] = TANH((((((k >> 1) * 4 + (k >> 1))) % 4 == 0) ? (a + c2[(6) % 2]) : ((LESS(a, b)) ? (real)(k) * (real)0.07 : b))); s.q[1] = b; s.m = k;
  for (int i = 0; i < 2; i++) u_h1_p51221(&s);
  return s.p + s.q[0] * s.q[1];
}

void p51221(const real *x, const real *w, int n, real *y) {
for (int z = 0; z < n; z++) y[z] = (real)0.1 * x[z];
real t1[7];
for (int i2 = 0; i2 < 7; i2++) t1[i2] = TANH(ATAN((((((n ^ n) * 4 + i2)) % 2 == 0) ? y[(((n % 2) + (n ^ 7))) % n] : x[((5 ^ (2 % 4))) % n])));
real t3[4];
for (int i4 = 0; i4 < 4; i4++) t3[i4] = SIN(((w[(n) % n] + y[(((i4 / 4) + (9 / 4))) % n]) / ((real)1.5 + (t1[(((n % 3) + (i4 >> 1))) % 7] - y[(9) % n]) * (t1[(((n % 3) + (i4 >> 1))) % 7] - y[(9) % n]))));
y[(9) % n] = y[(9) % n] * (real)0.7 + SIN((ERF(COS(t1[(0) % 7])) / ((real)1.5 + y[(7) % n] * y[(7) % n])));
y[(n) % n] = y[(n) % n] * (real)0.7 + TANH(((((real)-0.549 * x[(4) % n]) - ((real)((2 + n)) * (real)0.07 - (real)((n ^ 9)) * (real)0.07)) * ((real)0.403 + t3[(n) % 4])));
t1[(((n + 0) ^ (2 ^ 0))) % 7] += SIN((FMIN(((real)((n ^ n)) * (real)0.07 - (real)((4 / 2)) * (real)0.07), (x[(n) % n] - t1[((0 ^ 9)) % 7])) + (real)0.762));
real v5 = ((COS(((real)-1.234 + y[(((2 >> 1) % 4)) % n])) / ((real)1.5 + (((7) % 4 == 0) ? ((real)((n % 5)) * (real)0.07 * t1[(((n >> 1) / 2)) % 7]) : BELL((real)0.297)) * (((7) % 4 == 0) ? ((real)((n % 5)) * (real)0.07 * t1[(((n >> 1) / 2)) % 7]) : BELL((real)0.297))))) / (real)2.5;
h0_p51221(t3, t3, MIN(4, 4), t1[(((n / 5) * 3 + (5 >> 1))) % 7]);
for (int i6 = 0; i6 < ((n ^ 6)) % 5 + 1; i6++) {
v5 -= SIN(FABS((((real)((n % 4)) * (real)0.07 * (real)-0.271) / ((real)1.5 + (t1[(((n >> 1) + (n >> 1))) % 7] * (real)((i6 % 2)) * (real)0.07) * (t1[(((n >> 1) + (n >> 1))) % 7] * (real)((i6 % 2)) * (real)0.07)))));
t1[(i6) % 7] *= SIN((((POW((real)1.2 + v5 * v5, TANH(v5)) * v5) + ((v5 + v5) - v5))) / (real)2.5);
real v7 = SIN((h1_p51221(POW((real)1.2 + w[(n) % n] * w[(n) % n], TANH(t3[(3) % 4])), w[(((n >> 1) >> 1)) % n], 2) + ((v5 - x[(((n / 5) + (i6 * 3 + i6))) % n]) * y[(((n + i6) ^ (7 / 2))) % n])));
v5 = TANH(v5 + v5);
}
}
