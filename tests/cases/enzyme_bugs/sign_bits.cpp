// Signs compared as bits, and scaling by a power of two, as libraries of special functions do.
#include <cmath>
#include <cstdint>
#include <cstring>

static bool one_sign(double a, double b) {
    std::uint64_t of_a, of_b;
    std::memcpy(&of_a, &a, sizeof a);
    std::memcpy(&of_b, &b, sizeof b);
    return !((of_a ^ of_b) >> 63);
}

extern "C" void sign_bits(const double *x, int n, double *y) {
    for (int i = 0; i < n; i++) {
        double left = x[i] * x[i] - 0.5, right = x[(i + 1) % n] - 0.2;
        y[i] = one_sign(left, right) ? std::ldexp(left * right, 2) : left + std::ldexp(right, -3);
    }
}
