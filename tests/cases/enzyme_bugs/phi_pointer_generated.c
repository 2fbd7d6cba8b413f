/* A phi of equal pointers was not known to alias them: wrong where n is 5 or 9. */
/* signature=y[n] -> y[n] | shape=in_place | real=double | seed=60143 */

void p60143(real *y, int n) {
real *t1 = (real *)malloc(6 * sizeof(real));
for (int i2 = 0; i2 < 6; i2++) t1[i2] = SIN(((LESS(y[(((7 % 2) * 2 + 5)) % n], (real)0.641)) ? ((real)((5 ^ n)) * (real)0.07 - y[(8) % n]) : (real)-0.949));
int i3 = 0;
while (i3 < n) {
y[(((n + 5) ^ (9 >> 1))) % n] += (FABS((((real)(n) * (real)0.07 * (real)(7) * (real)0.07) / ((real)1.5 + t1[(((n % 4) * 2 + (i3 / 5))) % 6] * t1[(((n % 4) * 2 + (i3 / 5))) % 6])))) / (real)2.5;
y[(((n ^ i3) >> 1)) % n] += TANH(FMAX(((y[(i3) % n] / ((real)1.5 + (real)1.277 * (real)1.277)) * (y[((i3 + (i3 * 2 + 8))) % n] * y[(n) % n])), ((y[(i3) % n] + (real)((n / 2)) * (real)0.07) + ((real)((n >> 1)) * (real)0.07 * (real)(i3) * (real)0.07))));
i3++;
}
y[(((n ^ n) + n)) % n] = (ROOT((FMAX(t1[(((6 >> 1) % 3)) % 6], (real)-1.401) * ((real)((n + 4)) * (real)0.07 - (real)((4 ^ n)) * (real)0.07)))) / (real)2.5;
real v4 = SIN(((((real)((n + 6)) * (real)0.07 * (real)((8 >> 1)) * (real)0.07) - (t1[(((3 % 3) ^ (n % 4))) % 6] * y[(n) % n])) * BELL(t1[(((n % 2) >> 1)) % 6])));
t1[(8) % 6] = t1[(8) % 6] * (real)0.7 + SIN(SOFT(FMAX(ERF(v4), (v4 / ((real)1.5 + v4 * v4)))));
real m5[3][3];
for (int r = 0; r < 3; r++) for (int c = 0; c < 3; c++) m5[r][c] = SIN((LOGP(v4) * t1[((9 * 2 + r)) % 6]));
for (int r = 0; r < 3; r++) { real s = (real)0.0; for (int c = 0; c < 3; c++) s += m5[r][c] * t1[c % 6]; t1[r % 6] += TANH(s); }
t1[((n >> 1)) % 6] = t1[((n >> 1)) % 6] * (real)0.7 + TANH((((v4 * t1[(((6 * 3 + n) * 3 + n)) % 6]) - ((LESS((real)((0 * 4 + n)) * (real)0.07, v4)) ? t1[(6) % 6] : t1[(n) % 6])) * (((LESS(t1[(((n + 8) >> 1)) % 6], y[(n) % n])) ? v4 : (real)((3 % 3)) * (real)0.07) / ((real)1.5 + (v4 - v4) * (v4 - v4)))));
y[n - 1] *= (real)0.9;
free(t1);
}
