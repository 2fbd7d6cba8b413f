"""Derivatives that are those of a single point: one such element among many is seen, after good calls too, and each such call warns.

The programs are right for all numbers but one. Enzyme differentiates the branch, choice, mask or iteration of that number, and the function's slope is another.
"""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from ffgrad.errors import DifferentiationError, GradientWarning
from ffgrad.numpy import Enzyme, enzyme

# Per element: a preamble, what y is of v, and a value with another derivative.
ELEMENTS = {
    "guarded quotient": ("", "double d = v - 0.7; y[i] = d == 0 ? 1 : expm1(d) / d;", 0.7),
    "mask": ("", "y[i] = (v == 0.7) * 0.49 + (v != 0.7) * v * v;", 0.7),
    "sign": ("", "double d = v - 0.7; int s = (d > 0) - (d < 0); y[i] = s * s * d;", 0.7),
    "table of two": ("static const double keep[2] = {0, 1};", "double d = v - 0.7; y[i] = keep[d != 0] * d;", 0.7),
    "bits": ("", "double c = 0.7; y[i] = memcmp(&v, &c, 8) == 0 ? 0.343 : v * v * v;", 0.7),
    "three pieces": (
        "",
        "if (v < 0.7) y[i] = v * v; else if (v > 0.7) y[i] = 2 * v * v - 0.49; else y[i] = 0.49;",
        0.7,
    ),
    "node of a table": (
        "static const double t[10] = {0, 1, 4, 9, 16, 25, 36, 49, 64, 81};",
        "int k = (int)(v * 4); double u = v * 4 - k; y[i] = u > 0 ? t[k] + (t[k + 1] - t[k]) * u : t[k];",
        0.75,
    ),
    "solution as first guess": (
        "",
        "double a = 0.5, b = 1.2, fa = a * a - v, fb = b * b - v;"
        " for (int k = 0; k < 40 && fabs(fb) >= 1e-13 && fb != fa; k++) {"
        " double c = b - fb * (b - a) / (fb - fa); a = b; fa = fb; b = c; fb = c * c - v; } y[i] = b;",
        0.25,
    ),
}
FUNCTION = """#include <math.h>
#include <string.h>
%s
void each(const double *x, int n, double *y) { for (int i = 0; i < n; i++) { double v = x[i]; %s } }
"""


def write_source(folder: Path, text: str) -> Path:
    """Writes a C program."""
    path = folder / "program.c"
    path.write_text(text)
    return path


@pytest.fixture
def opened(tmp_path: Path) -> Callable[..., Enzyme]:
    """Opens a function of the text of a C program."""

    def open_function(text: str, name: str, signature: str, **options: object) -> Enzyme:
        return enzyme(write_source(tmp_path, text), name, signature, **options)  # type: ignore[arg-type]

    return open_function


def doubts(call: Callable[[], object]) -> list[str]:
    """The texts of the warnings of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(w.message) for w in caught if issubclass(w.category, GradientWarning)]


@pytest.mark.parametrize("count", [7, 2000])
@pytest.mark.parametrize("name", list(ELEMENTS))
def test_one_such_element_is_seen_after_a_good_call(opened: Callable[..., Enzyme], name: str, count: int) -> None:
    preamble, body, special = ELEMENTS[name]
    f = opened(FUNCTION % (preamble, body), "each", "x[n] -> y[n]")
    x = np.random.default_rng(count).uniform(0.2, 1.9, count)
    assert not doubts(lambda: f.vjp(x)[1](np.ones(count)))
    x[count // 2] = special
    assert doubts(lambda: f.vjp(x)[1](np.ones(count))), "the derivative of a single point is returned without a warning"


def test_strict_refuses_it(opened: Callable[..., Enzyme]) -> None:
    preamble, body, special = ELEMENTS["solution as first guess"]
    f = opened(FUNCTION % (preamble, body), "each", "x[n] -> y[n]", verify="strict")
    x = np.random.default_rng(3).uniform(0.2, 1.9, 50)
    f.vjp(x)[1](np.ones(50))
    x[20] = special
    with pytest.raises(DifferentiationError, match="could be proven right"):
        f.vjp(x)[1](np.ones(50))


def test_a_kink_has_no_warning(opened: Callable[..., Enzyme]) -> None:
    f = opened(FUNCTION % ("", "y[i] = fabs(v - 0.7) + fmax(v, 0.9);"), "each", "x[n] -> y[n]")
    x = np.random.default_rng(4).uniform(0.2, 1.9, 400)
    x[[3, 70]] = 0.7, 0.9
    assert not doubts(lambda: f.vjp(x)[1](np.ones(400)))


HILL = """#include <math.h>
void hill(const double *x, int n, double k, double m, double *y) {
  for (int i = 0; i < n; i++) y[i] = x[i] == 0 ? 0 : 1 / (1 + exp(m * log(k / x[i])));
}
void hill_branch(const double *x, int n, double k, double m, double *y) {
  for (int i = 0; i < n; i++) { if (x[i] == 0) { y[i] = 0; continue; } y[i] = 1 / (1 + exp(m * log(k / x[i]))); }
}
"""


@pytest.mark.parametrize("name", ["hill", "hill_branch"])
def test_what_was_right_for_other_arguments_is_verified_again(opened: Callable[..., Enzyme], name: str) -> None:
    f = opened(HILL, name, "x[n], k, m -> y[n]")
    x, k = np.array([0.5, 0.0, 1.0, 2.0]), np.array(0.7)
    for m in (2.0, 3.0):
        assert not doubts(lambda m=m: f.vjp(x, k, np.array(m))[1](np.ones(4)))
    assert doubts(lambda: f.vjp(x, k, np.array(1.0))[1](np.ones(4))), "the slope at 0 is 1 / k there"


GUARDED = """#include <math.h>
double quotient(double v, double c) { double d = v - c; return d == 0 ? 1 : expm1(d) / d; }
"""


def test_each_doubtful_call_warns_and_all_but_the_first_in_the_same_words(opened: Callable[..., Enzyme]) -> None:
    f = opened(GUARDED, "quotient", "v, c -> return")
    found = [doubts(lambda c=c: f.grad(np.array(c), np.array(c))) for c in (0.7, 0.3, 0.9, 1.5, 2.0)]
    assert all(len(texts) == 1 for texts in found)
    assert "finite differences" in found[0][0] and len({texts[0] for texts in found[1:]}) == 1


def test_a_term_that_is_lost_warns_in_each_call(opened: Callable[..., Enzyme]) -> None:
    f = opened(FUNCTION % ("", "long q = (long)(v * 1e9); y[i] = v * v + q * 1e-11;"), "each", "x[n] -> y[n]")
    for seed in range(3):
        x = np.random.default_rng(seed).uniform(0.2, 2, 3000)
        assert doubts(lambda x=x: f.vjp(x)[1](np.ones(3000)))


CURVED = """#include <math.h>
double total(const double *x, int n) {
  double s = 0;
  for (int i = 0; i < n; i++) { double d = x[i] - 0.7; s += d == 0 ? 1 + 0.5 * d : expm1(d) / d; }
  return s;
}
"""


@pytest.mark.parametrize("count", [5, 1500])
def test_second_derivatives_of_a_single_point_are_seen(opened: Callable[..., Enzyme], count: int) -> None:
    f = opened(CURVED, "total", "x[n] -> return")
    x = np.random.default_rng(count).uniform(0.2, 1.9, count)
    assert not doubts(lambda: f.hessp(x, np.ones(count)))
    x[count // 2] = 0.7
    assert doubts(lambda: f.hessp(x, np.ones(count)))
    assert not doubts(lambda: f.grad(x)), "the gradient itself is right there"


KEPLER = """
import sys, warnings, numpy as np
from ffgrad.numpy import enzyme
f = enzyme(sys.argv[1], "each", "x[n] -> y[n]")
x = np.random.default_rng(1).uniform(-2, 2, 500)
f.vjp(x)[1](np.ones(500))
for place in (100, 7):
    z = x.copy(); z[place] = np.pi
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        f.vjp(z)[1](np.ones(500))
    print(len(caught))
"""


def test_a_later_process_is_warned_too(tmp_path: Path) -> None:
    body = (
        "double E = v, F = E - 0.3 * sin(E) - v; while (F != 0) { double d = F / (1 - 0.3 * cos(E)); E -= d;"
        " F = E - 0.3 * sin(E) - v; if (fabs(d) < 1e-13) break; } y[i] = E;"
    )
    source = write_source(tmp_path, FUNCTION % ("", body))
    for _ in range(2):
        run = subprocess.run([sys.executable, "-c", KEPLER, str(source)], capture_output=True, text=True, check=True)
        assert run.stdout.split() == ["1", "1"]
