"""Verification follows the path in the NumPy front end too: what is wrong at later values only is refused, or right."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import ffgrad
import numpy as np
import pytest
from ffgrad.numpy import enzyme
from support.fixtures import Write
from support.paths import SLOTS, SLOTS_OPTIONS, SLOTS_SIGNATURE, points, slots_by_hand


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("order", ["vjp", "hvp"])
def test_a_wrong_gradient_at_later_values_is_never_returned(write: Write, order: str) -> None:
    """In first and in second derivatives, which repeat the reverse mode."""
    op = enzyme(write(SLOTS), "toggle", SLOTS_SIGNATURE, **SLOTS_OPTIONS)
    for x in points(4):
        given = np.array(x)
        try:
            if order == "vjp":
                _, pullback = op.vjp(given)
                (made,) = pullback(np.ones(8))
                np.testing.assert_allclose(made, slots_by_hand(x), rtol=1e-9)
            else:
                made = op.hvp((given,), (given,), np.ones(8))
                step = 1e-6 * given
                ends = (np.array(slots_by_hand((given + s).tolist())) for s in (step, -step))
                np.testing.assert_allclose(np.ravel(made), np.subtract(*ends) / 2e-6, rtol=1e-5, atol=1e-6)
        except ffgrad.DifferentiationError as refusal:
            assert refusal.code == "unproven-gradient"  # noqa: PT017


ENDS = """\
#include <cassert>
#include <cstdlib>
extern "C" {
double leaves(const double *x, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        if (x[i] < 0) exit(3);
        sum += x[i] * x[i];
    }
    return sum;
}
double aborts(const double *x, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        if (int(x[i]) > 4 || x[i] < 0) abort();
        sum += x[i] * x[i];
    }
    return sum;
}
double asserts(const double *x, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        assert(x[i] >= 0);
        sum += x[i] * x[i];
    }
    return sum;
}
double classes(const double *x, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        switch (int(x[i] + 1)) {
            case 1: sum += 2 * x[i]; break;
            case 2: case 3: sum += x[i] * x[i]; break;
            default: exit(4);
        }
    }
    return sum;
}
}
"""
SAID = {"leaves": "exit status 3", "aborts": "abort", "asserts": "Assertion", "classes": "exit status 4"}


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("function", SAID)
def test_a_function_that_ends_the_program_at_later_values_is_an_error_of_the_gradient(
    write: Write, function: str
) -> None:
    """Enzyme and LLVM take the branch to `exit` as never taken: without a condition of its own the path would not be seen."""
    op = enzyme(write(ENDS, "ends.cpp"), function, "x[n] -> return")
    good, bad = np.array([0.5, 1.5]), np.array([0.5, -1.5])
    expected = np.array([2.0, 3.0]) if function == "classes" else 2 * good
    for _ in range(2):
        np.testing.assert_allclose(op.grad(good), expected)
        with pytest.raises(ffgrad.ForeignError, match=SAID[function]):
            op.grad(bad)


POWERS = """\
#include <cmath>
#include <memory>
struct Node { virtual ~Node() = default; virtual double value() const = 0; };
struct Number : Node {
    double number;
    explicit Number(double given) : number(given) {}
    double value() const override { return number; }
};
extern "C" double power(double x, double n, int which) {
    std::unique_ptr<Node> exponent = std::make_unique<Number>(which == 0 ? 3 : n);
    return std::pow(x, exponent->value()) * std::pow(1.5, exponent->value());
}
"""


@pytest.mark.usefixtures("cache")
def test_a_derivative_by_the_exponent_of_a_negative_number_is_never_zero_in_silence(write: Write) -> None:
    """Not even after a call in which that exponent was a constant and had none."""
    op = enzyme(write(POWERS, "powers.cpp"), "power", "x, n, which -> return")
    for x in (0.7, -0.7):
        _, pullback = op.vjp(x, 2.0, 0)
        np.testing.assert_allclose(pullback(1.0)[:2], (3 * x * x * 1.5**3, 0))
    with pytest.warns(ffgrad.GradientWarning, match="not finite"):
        _, pullback = op.vjp(-0.7, 2.0, 1)
        by_base, by_exponent, _ = pullback(1.0)
    np.testing.assert_allclose(by_base, 2 * -0.7 * 1.5**2)
    assert np.isnan(by_exponent)


TASKS = """\
#include <pthread.h>
#include <future>
#include <thread>
#include <vector>
static double part(const double *x, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * x[i];
    return sum;
}
extern "C" {
double by_size(const double *x, int n) {
    if (n < 100) return part(x, n);
    auto task = std::async(std::launch::async, part, x, n / 2);
    return part(x + n / 2, n - n / 2) + task.get();
}
double by_value(const double *x, int n) {
    double sum = part(x, n), more = 0;
    if (sum > 100) {
        std::thread worker([&] { more = part(x, n); });
        worker.join();
    }
    return sum + more;
}
double twice(const double *x, int n) {
    if (n < 100) return part(x, n);
    pthread_t threads[2];
    auto run = [](void *given) -> void * { return given; };
    pthread_create(&threads[0], nullptr, run, nullptr);
    pthread_create(&threads[1], nullptr, run, nullptr);
    for (pthread_t thread : threads) pthread_join(thread, nullptr);
    return 2 * part(x, n);
}
double by_number(const double *x, int n) {
    std::vector<double> sums(n / 100 + 1);
    std::vector<std::thread> workers;
    for (int i = 0; i + 1 < int(sums.size()); i++) workers.emplace_back([&, i] { sums[i + 1] = part(x, 1); });
    for (auto &worker : workers) worker.join();
    for (double more : sums) sums[0] += more;
    return sums[0] + part(x, n);
}
}
"""


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("function", ["by_size", "by_value", "by_number", "twice"])
def test_a_call_that_starts_threads_is_refused_and_others_are_not(write: Write, function: str) -> None:
    """Libraries have a branch for threads beside the one that most calls take."""
    op = enzyme(write(TASKS, "tasks.cpp"), function, "x[n] -> return")
    few, many = np.linspace(0.5, 1.5, 6), np.linspace(0.5, 1.5, 200)
    for _ in range(2):
        np.testing.assert_allclose(op.grad(few), 2 * few)
        with pytest.raises(ffgrad.DifferentiationError, match="starts threads|runs threads") as refusal:
            op.grad(many)
        assert refusal.value.code == "threads"


TEXTS = """\
#include <cmath>
#include <string>
extern "C" double logged(const double *x, int n) {
    std::string log = "levels:";
    double sum = 0;
    for (int i = 0; i < n; i++) {
        double level = x[i] < 1 ? std::sin(x[i]) : std::exp(-x[i]);
        log += " " + std::to_string(level);
        log.insert(log.size() / 2, log.substr(i));
        log.replace(0, 1, log.c_str() + i);
        sum += level * level;
    }
    return log.empty() ? 0.0 : sum;
}
"""


@pytest.mark.usefixtures("cache")
def test_branches_inside_of_text_code_are_no_paths(write: Write) -> None:
    """Some follow addresses (whether a text is replaced by a part of itself), so that every call would be verified again."""
    op = enzyme(write(TEXTS, name="logged.cpp"), "logged", "x[n] -> return")
    rising = np.array([0.1, 0.2, 0.3])
    for _ in range(5):
        np.testing.assert_allclose(op.vjp(rising)[1](1.0)[0], np.sin(2 * rising), rtol=1e-12)
    assert op.path_checks()["checked"] == 0
    falling = np.array([1.1, 0.2, 2.3])
    expected = np.where(falling < 1, np.sin(2 * falling), -2 * np.exp(-2 * falling))
    np.testing.assert_allclose(op.vjp(falling)[1](1.0)[0], expected, rtol=1e-12)
    assert op.path_checks()["checked"] == 1


GUARDS = """\
#include <math.h>
double guarded(const double *x, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        double root = sqrt(x[i]);
        sum += x[i] < 0 ? 1 - x[i] : root;
    }
    return sum;
}
double capped(const double *x, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += fmax(0.25, sqrt(x[i])) * x[i];
    return sum;
}
double shared(const double *x, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        double root = sqrt(x[i]), inverse = 1 / root;
        double a = x[i] > 0 ? root * inverse + inverse : 0, b = x[i] > 0 ? inverse * 3 : x[i] * x[i];
        sum += a + b;
    }
    return sum;
}
double angle(const double *x, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        double a = acos(x[i]);
        sum += x[i] < 0 ? 3 * x[i] : a;
        if (x[i] < 0) sum += fmin(1.0, log(x[i] + 2) / (x[i] + 1.5));
    }
    return sum;
}
double root(double x) { return sqrt(x); }
"""

BAD = np.array([0.5, -1.75, 0.25])


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("history", [False, True])
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("guarded", lambda x: np.where(x < 0, -1, 0.5 / np.sqrt(abs(x)))),
        ("capped", lambda x: np.where(x > 0.0625, 1.5 * np.sqrt(abs(x)), 0.25)),
        ("shared", lambda x: np.where(x > 0, -2.0 * abs(x) ** -1.5, 2 * x)),
    ],
)
def test_what_is_not_chosen_adds_no_nan(
    write: Write, history: bool, name: str, expected: Callable[[np.ndarray], np.ndarray]
) -> None:
    """The root of a negative number, in a choice; whether or not there was a good gradient before."""
    op = enzyme(write(GUARDS), name, "x[n] -> return")
    good = np.array([0.5, 1.75, 0.25])
    if history:
        np.testing.assert_allclose(op.vjp(good)[1](1.0)[0], expected(good), rtol=1e-12)
    for x in (BAD, good, BAD):
        np.testing.assert_allclose(op.vjp(x)[1](1.0)[0], expected(x), rtol=1e-12)
        tangent = np.array([1.0, 2.0, -1.0])
        np.testing.assert_allclose(op.jvp((x,), (tangent,))[1], expected(x) @ tangent, rtol=1e-12)


@pytest.mark.usefixtures("cache")
def test_a_nan_for_finite_arguments_is_verified(write: Write) -> None:
    """It was returned without a word after a good gradient of the same size."""
    op = enzyme(write(GUARDS), "root", "x -> return")
    assert op.vjp(4.0)[1](1.0)[0] == 0.25
    with pytest.warns(ffgrad.GradientWarning, match="not finite at these arguments"):
        assert np.isnan(op.vjp(-1.0)[1](1.0)[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(op.vjp(float("nan"))[1](1.0)[0])


@pytest.mark.usefixtures("cache")
def test_a_guarded_derivative_is_right_where_all_is_chosen(write: Write) -> None:
    """The pipeline alone."""
    op = enzyme(write(GUARDS), "angle", "x[n] -> return", pipeline="guarded")
    x = np.array([0.5, -0.25, 0.25])
    step = 1e-6 * np.eye(3)
    differences = [(op(x + s) - op(x - s)) / 2e-6 for s in step]
    np.testing.assert_allclose(op.vjp(x)[1](1.0)[0], differences, rtol=1e-8)
