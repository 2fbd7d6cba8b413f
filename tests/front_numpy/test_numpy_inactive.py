"""Functions that carry no derivative: names and patterns in ``inactive=``, and what is inactive by itself."""

from __future__ import annotations

import numpy as np
import pytest
from ffgrad import CompileError, DifferentiationError, ForeignError
from ffgrad.numpy import enzyme
from support.fixtures import Write

TELEMETRY = """\
#include <cstdio>
namespace telemetry {
void send(const double *values, int n);
void send(double value);
template <typename T> __attribute__((noinline)) void record(T value) { std::fprintf(stderr, "%g", double(value)); send(value); }
}
extern "C" double energy(const double *x, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        telemetry::send(x, i);
        sum += x[i] * x[i] * x[i];
        telemetry::record(sum);
    }
    return sum;
}
namespace telemetry {
void send(const double *, int) {}
void send(double) {}
}
"""

STREAMS = """\
#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>
extern "C" double energy(const double *x, int n) {
    double sum = 0;
    std::ostringstream text;
    for (int i = 0; i < n; i++) {
        sum += x[i] * x[i] * x[i];
        text << "step " << i << ": " << std::setprecision(8) << sum << '\\n';
    }
    if (text.str().size() > 1u << 20) std::cerr << text.str() << std::endl;
    std::ofstream("/dev/null") << text.str();
    return sum;
}
"""

X = np.array([0.5, -1.0, 2.0])


def check(path: object, **options: object) -> None:
    """The gradient of the sum of cubes, in both modes."""
    f = enzyme(path, "energy", "x[n] -> return", **options)  # type: ignore[arg-type]
    value, pullback = f.vjp(X)
    np.testing.assert_allclose(value, np.sum(X**3))
    np.testing.assert_allclose(pullback(1.0)[0], 3 * X**2, rtol=1e-12)
    np.testing.assert_allclose(f.jvp((X,), (np.ones(3),))[1], np.sum(3 * X**2), rtol=1e-12)


@pytest.mark.parametrize(
    "names",
    [["telemetry::*"], ["telemetry::send", "telemetry::record"], ["telemetry::record<double>(double)", "*send*"]],
    ids=["pattern", "overloads", "signature"],
)
def test_names_and_patterns(names: list[str], write: Write) -> None:
    """A name means all overloads and instances, a pattern all that it matches."""
    check(write(TELEMETRY, "model.cpp"), inactive=names)


def test_streams_are_inactive_by_themselves(write: Write) -> None:
    """Text that is made of active numbers and put out has no derivative, and needs no option."""
    check(write(STREAMS, "model.cpp"))


STREAM_ON_AN_ERROR_PATH = """\
#include <cmath>
#include <cfenv>
#include <sstream>
#include <stdexcept>
#include <vector>
double f(const std::vector<double> &x) {
    if (x.empty() || x[0] < 0) {
        std::ostringstream text;
        text << "no number among " << x.size();
        throw std::domain_error(text.str());
    }
    int before = std::fegetround();
    std::fesetround(FE_TONEAREST);
    double y = std::lgamma(x[0]) * x[1];
    std::fesetround(before);
    return y;
}
"""


def test_streams_and_rounding_keep_no_memory(write: Write) -> None:
    """A rule (lgamma) may stand beside a stream: its memory is the library's own; the closed form at 2 is 1 minus Euler's constant."""
    f = enzyme(write(STREAM_ON_AN_ERROR_PATH, "stream.cpp"), "f", "x[n] -> return")
    for scale in (1.0, 3.0):
        np.testing.assert_allclose(f.grad(np.array([2.0, scale])), [scale * (1 - np.euler_gamma), 0.0], atol=1e-14)
    with pytest.raises(ForeignError, match="no number among 2"):
        f.grad(np.array([-1.0, 1.0]))


def test_a_pattern_that_fits_nothing_is_refused(write: Write) -> None:
    """With the names that are there."""
    with pytest.raises(CompileError, match=r"logging::\*"):
        enzyme(write(TELEMETRY, "model.cpp"), "energy", "x[n] -> return", inactive=["logging::*"])


def test_all_functions_without_a_derivative_are_named(write: Write) -> None:
    """At once, and first the one that takes numbers; marking all of them inactive is a way out."""
    source = """\
void note(int i, void *to);
double table(double x);
double energy(const double *x, int n) {
    double sum = 0, kept[1];
    for (int i = 0; i < n; i++) {
        kept[0] = x[i] * x[i];
        note(i, kept);
        sum += table(x[i]) + kept[0] * x[i];
    }
    return sum;
}
"""
    with pytest.raises(DifferentiationError) as caught:
        enzyme(write(source, "model.c"), "energy", "x[n] -> return").vjp(X)
    text = str(caught.value)
    assert caught.value.code == "missing-derivative" and "`energy` calls `table`" in text
    assert "These have none either: `note`" in text


THROUGH_TEXT = """\
#include <cmath>
#include <cstring>
#include <string>
extern "C" double energy(double x) {
    std::string bytes(sizeof x, '\\0');
    std::memcpy(&bytes[0], &x, sizeof x);
    double read;
    std::memcpy(&read, bytes.data(), sizeof read);
    return std::sin(x) + read * read;
}
"""


def test_a_number_that_goes_through_a_text_and_back_is_refused(write: Write) -> None:
    """A text is inactive, so part of the derivative is missing; differences see it."""
    f = enzyme(write(THROUGH_TEXT, "through.cpp"), "energy", "x -> return")
    with pytest.raises(DifferentiationError, match="finite differences"):
        f.grad(0.5)


BESIDE = """\
#include <complex>
#include <iostream>
#include <stdexcept>
#include <vector>
double phase(double a) { return std::arg(std::complex<double>(a, 1) / std::complex<double>(2, a)); }
double energy(const std::vector<double> &x) {
    if (x.empty()) throw std::invalid_argument("nothing");
    std::vector<double> y(x);
    double sum = 0;
    for (double a : y) sum += a * a * a;
    return sum;
}
"""


def test_what_runs_at_load_keeps_no_memory_of_a_call(write: Write) -> None:
    """The streams' constructor, beside memory that is freed and a function whose rule needs it: it was refused."""
    f = enzyme(write(BESIDE, "beside.cpp"), "energy")
    np.testing.assert_allclose(f.grad(X), 3 * X**2)
