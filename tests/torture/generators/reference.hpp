// Hyper-dual numbers: value, two first derivatives and the mixed second one, exact to rounding. What the generated
// programs are differentiated with here shares nothing with ffgrad: no Enzyme, no check of its own, another language.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <queue>
#include <vector>

// How near any comparison between numbers came to a tie: there, rounding may take the other branch.
static double nearest_tie;

// Results of operations so far. Copies of a number have its count; inputs have theirs from the caller, below this beginning.
static double results = 1e6;

struct real {
    double v = 0, a = 0, b = 0, ab = 0, made = 0;
    real() = default;
    real(double value) : v(value) {}
    real(int value) : v(value) {}
    real(double value, double da, double db, double dab) : v(value), a(da), b(db), ab(dab), made(++results) {}
    bool is_constant() const { return a == 0 && b == 0; }
};

// f(x), from f and its first two derivatives at x.
static inline real chain(const real &x, double f, double f1, double f2) {
    return {f, f1 * x.a, f1 * x.b, f1 * x.ab + f2 * x.a * x.b};
}
static inline real operator+(const real &x, const real &y) { return {x.v + y.v, x.a + y.a, x.b + y.b, x.ab + y.ab}; }
static inline real operator-(const real &x, const real &y) { return {x.v - y.v, x.a - y.a, x.b - y.b, x.ab - y.ab}; }
static inline real operator-(const real &x) { return {-x.v, -x.a, -x.b, -x.ab}; }
static inline real operator*(const real &x, const real &y) {
    return {x.v * y.v, x.a * y.v + x.v * y.a, x.b * y.v + x.v * y.b, x.ab * y.v + x.a * y.b + x.b * y.a + x.v * y.ab};
}
static inline real operator/(const real &x, const real &y) {
    return x * chain(y, 1 / y.v, -1 / (y.v * y.v), 2 / (y.v * y.v * y.v));
}
static inline real &operator+=(real &x, const real &y) { return x = x + y; }
static inline real &operator-=(real &x, const real &y) { return x = x - y; }
static inline real &operator*=(real &x, const real &y) { return x = x * y; }

static inline real SIN(const real &x) { return chain(x, sin(x.v), cos(x.v), -sin(x.v)); }
static inline real COS(const real &x) { return chain(x, cos(x.v), -sin(x.v), -cos(x.v)); }
static inline real TANH(const real &x) {
    // Not 1 - t²: nothing is left of that where t is near 1.
    double t = tanh(x.v), s = 1 / (cosh(x.v) * cosh(x.v));
    return chain(x, t, s, -2 * t * s);
}
static inline real ATAN(const real &x) {
    double s = 1 / (1 + x.v * x.v);
    return chain(x, atan(x.v), s, -2 * x.v * s * s);
}
static inline real ERF(const real &x) {
    double s = 2 / sqrt(M_PI) * exp(-x.v * x.v);
    return chain(x, erf(x.v), s, -2 * x.v * s);
}
static inline real EXP(const real &x) { return chain(x, exp(x.v), exp(x.v), exp(x.v)); }
static inline real LOG(const real &x) { return chain(x, log(x.v), 1 / x.v, -1 / (x.v * x.v)); }
static inline real SQRT(const real &x) {
    double r = sqrt(x.v);
    return chain(x, r, 0.5 / r, -0.25 / (r * x.v));
}
static inline real POW(const real &x, const real &y) { return EXP(y * LOG(x)); }
static inline real SOFT(const real &x) { return LOG(real(1) + EXP(-x * x)); }
static inline real BELL(const real &x) { return EXP(-x * x); }
static inline real ROOT(const real &x) { return SQRT(real(1) + x * x); }
static inline real LOGP(const real &x) { return LOG(real(1.1) + x * x); }

static inline bool less(const real &x, const real &y, bool either_will_do) {
    double gap = fabs(x.v - y.v);
    if (gap < nearest_tie && !(gap == 0 && either_will_do)) nearest_tie = gap;
    return x.v < y.v;
}
// Numbers that are equal here, and not copies, can differ by rounding in a loop that is vectorised for all but its last turns.
static inline bool LESS(const real &x, const real &y) {
    return less(x, y, x.made == y.made || (x.is_constant() && y.is_constant()));
}
// For algorithms of the standard library.
static inline bool operator<(const real &x, const real &y) { return LESS(x, y); }
// Rounded down: a tie at every integer.
static inline int INT(const real &x) {
    double down = floor(x.v), gap = fmin(x.v - down, down + 1 - x.v);
    if (gap < nearest_tie && !x.is_constant()) nearest_tie = gap;
    return (int)down;
}
static inline bool CHOOSE(const real &x, const real &y) { return less(x, y, x.a == y.a && x.b == y.b); }
static inline real FABS(const real &x) { return CHOOSE(x, real(0)) ? -x : x; }
static inline real FMIN(const real &x, const real &y) { return CHOOSE(x, y) ? x : y; }
static inline real FMAX(const real &x, const real &y) { return CHOOSE(x, y) ? y : x; }
#define MIN(a, b) ((a) < (b) ? (a) : (b))
