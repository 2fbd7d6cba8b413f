// Calls of functions that are defined elsewhere: two of them need a derivative, and the first one that is met has no numbers.
void report(int i, void *to);
double table(double x);

void through_table(const double *x, int n, double *y) {
    double kept[2] = {0, 0};
    for (int i = 0; i < n; i++) {
        kept[0] = x[i] * x[i];
        report(i, kept);
        y[i] = table(x[i]) + kept[0];
    }
}
