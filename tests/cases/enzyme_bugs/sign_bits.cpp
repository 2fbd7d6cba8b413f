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

// The same in the type that libraries compute accurate values in, and a first guess by bits for Newton's method, which does not depend on it.
extern "C" void long_signs(const double *x, int n, double *y) {
    for (int i = 0; i < n; i++) {
        const long double left = (long double)x[i] * x[i] - 0.5L, right = (long double)x[(i + 1) % n] - 0.2L;
        const double value = (double)(std::signbit(left) != std::signbit(right) ? left * right : left + right);
        const double square = 1 + value * value;
        std::uint64_t bits;
        std::memcpy(&bits, &square, sizeof square);
        bits = 0x5fe6eb50c7b537a9 - (bits >> 1);
        double root;
        std::memcpy(&root, &bits, sizeof root);
        for (int k = 0; k < 5; k++) root *= 1.5 - 0.5 * square * root * root;
        y[i] = value + root;
    }
}
