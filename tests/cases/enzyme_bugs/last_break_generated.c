/* After a break in the last outer iteration: the trip counts of earlier inner loops were not cached. */
/* signature=y[n] -> y[n] | shape=in_place | real=double | seed=93514 */

static real h0_p93514(real a, real b, int k) {
  real c2[2]; c2[0] = a * b; c2[1] = b - a;
  (void)k; return TANH(((a - (real)1.173) * (c2[((6 ^ (k >> 1))) % 2] + a))) + (a - c2[(((k + k) + k)) % 2]);
}

void p93514(real *y, int n) {
real t1[6], t1c[6];
for (int i2 = 0; i2 < 6; i2++) t1[i2] = (((y[(i2) % n] * y[(i2) % n]) + SOFT((real)(n) * (real)0.07))) / (real)2.5;
memcpy(t1c, t1, sizeof t1);
for (int i3 = 3 - 1; i3 >= 0; i3--) {
real v4 = (((FMAX((real)((3 >> 1)) * (real)0.07, (real)0.566) / ((real)1.5 + t1c[((n + (4 >> 1))) % 6] * t1c[((n + (4 >> 1))) % 6])) * (((real)0.292 * (real)(n) * (real)0.07) / ((real)1.5 + FABS((real)(i3) * (real)0.07) * FABS((real)(i3) * (real)0.07))))) / (real)2.5;
for (int i5 = 4 - 1; i5 >= 0; i5--) {
y[(5) % n] += (real)0.3 * ((SOFT(((real)((i3 * 2 + 7)) * (real)0.07 / ((real)1.5 + v4 * v4))) - v4));
switch (((9 >> 1)) % 4) {
case 0: {
t1[((6 + (i5 >> 1))) % 6] += TANH(ATAN((((real)0.718 + t1[(5) % 6]) / ((real)1.5 + (real)((i3 / 2)) * (real)0.07 * (real)((i3 / 2)) * (real)0.07))));
} 
case 1: {
real v6 = ((LOGP((v4 / ((real)1.5 + v4 * v4))) * ((v4 - y[(i3) % n]) - COS((real)0.255)))) / (real)2.5;
} break;
case 2: {
v4 += ((FABS((v4 - v4)) * v4)) / (real)2.5;
y[(((n >> 1) >> 1)) % n] += (real)0.3 * (((((real)((i3 % 3)) * (real)0.07 / ((real)1.5 + v4 * v4)) * BELL(t1c[((n ^ (n >> 1))) % 6])) * t1[(i5) % 6]));
} 
default: {
y[(7) % n] += TANH((((v4 * (real)((n >> 1)) * (real)0.07) * ERF((real)(3) * (real)0.07)) * (((real)((i5 % 3)) * (real)0.07 + t1c[(((i3 >> 1) * 2 + 7)) % 6]) + t1[(((i3 * 3 + n) * 5 + (i3 >> 1))) % 6])));
real v7 = (FMIN((COS(v4) - v4), (real)(8) * (real)0.07)) / (real)2.5;
}
}
v4 *= SIN(TANH(((LESS(y[(((n / 5) >> 1)) % n], t1c[(((i3 % 3) ^ n)) % 6])) ? (h0_p93514(v4, v4, 1) - (y[(((i5 * 4 + n) >> 1)) % n] * t1c[((i3 + n)) % 6])) : y[((i5 ^ (i3 >> 1))) % n])));
if ((i3) % 4 == 0) break;
}
}
t1[(n) % 6] = t1[(n) % 6] * (real)0.7 + SIN(FMAX(((t1c[(((2 * 5 + 4) * 5 + 2)) % 6] / ((real)1.5 + y[((6 / 5)) % n] * y[((6 / 5)) % n])) + (real)-0.184), y[((n * 3 + n)) % n]));
y[n - 1] *= (real)0.9;
}
