"""What the check sees: small parts of large gradients, values other than those given, and inputs that are written to."""

from __future__ import annotations

import ffgrad
import numpy as np
import pytest
import torch
from ffgrad.numpy import enzyme as numpy_enzyme
from ffgrad.torch import Enzyme, enzyme
from support.fixtures import Compile, Write

RULES = {"g": ("g_fwd", "g_rev")}

# The derivative is wrong in the second input alone, whose gradient is 1e-9 of that of the first.
SMALL_COLUMN = """\
void g(const double *a, const double *b, int n, double *y) { for (int i = 0; i < n; i++) y[i] = 1e9 * a[i] + b[i] * b[i]; }
void g_fwd(const double *a, const double *da, const double *b, const double *db, int n, double *y, double *dy) {
  g(a, b, n, y);
  for (int i = 0; i < n; i++) dy[i] = 1e9 * da[i] + 2 * b[i] * db[i];
}
void g_rev(const double *a, double *da, const double *b, double *db, int n, double *y, double *dy) {
  for (int i = 0; i < n; i++) { da[i] += 1e9 * dy[i]; db[i] += FACTOR * b[i] * dy[i]; dy[i] = 0; }
}
void f(const double *a, const double *b, int n, double *y) { g(a, b, n, y); }
"""

# The same within one array: one element of x counts 1e9 times as much as the others.
SMALL_ELEMENT = """\
void g(const double *x, int n, double *y) { for (int i = 0; i < n; i++) y[i] = (i == 3 ? 1e9 : 1.0) * x[i] * x[i]; }
void g_fwd(const double *x, const double *dx, int n, double *y, double *dy) {
  g(x, n, y);
  for (int i = 0; i < n; i++) dy[i] = (i == 3 ? 1e9 : 1.0) * 2 * x[i] * dx[i];
}
void g_rev(const double *x, double *dx, int n, double *y, double *dy) {
  for (int i = 0; i < n; i++) { dx[i] += (i == 3 ? 2e9 : i == 5 ? FACTOR : 2.0) * x[i] * dy[i]; dy[i] = 0; }
}
void f(const double *x, int n, double *y) { g(x, n, y); }
"""

# Six of many elements are wrong.
SIX = """\
float g(const float *x, int n) { float s = 0; for (int i = 0; i < n; i++) s += x[i] * x[i]; return s; }
float g_fwd(const float *x, const float *dx, int n, float *dy) {
  float s = 0;
  for (int i = 0; i < n; i++) s += 2 * x[i] * dx[i];
  *dy = s;
  return g(x, n);
}
void g_rev(const float *x, float *dx, int n, float dy) {
  for (int i = 0; i < n; i++) dx[i] += (i % (n / 6) == 7 ? FACTOR : 2) * x[i] * dy;
}
void f(const float *x, int n, float *y) { y[0] = g(x, n); }
"""

# The derivative is wrong where a value is below the one before.
FALLING = """\
void g(const double *x, int n, double *y) {
  for (int i = 0; i < n; i++) y[i] = i > 0 && x[i] < x[i - 1] ? x[i] * x[i] : 3 * x[i];
}
void g_fwd(const double *x, const double *dx, int n, double *y, double *dy) {
  g(x, n, y);
  for (int i = 0; i < n; i++) dy[i] = (i > 0 && x[i] < x[i - 1] ? 2 * x[i] : 3) * dx[i];
}
void g_rev(const double *x, double *dx, int n, double *y, double *dy) {
  for (int i = 0; i < n; i++) { dx[i] += (i > 0 && x[i] < x[i - 1] ? FACTOR * x[i] : 3) * dy[i]; dy[i] = 0; }
}
void f(const double *x, int n, double *y) { g(x, n, y); }
"""

# A table with an entry for each tenth of the range, and none beyond.
TABLE = """\
#include <math.h>
#include <stdlib.h>
void f(const double *x, int n, double *y) {
  for (int i = 0; i < n; i++) {
    double place = floor(x[i] * 10);
    if (place < 3 || place > 8) abort();
    y[i] = x[i] * x[i] * (1 + place);
  }
}
"""

# The reverse derivative adds its cotangent to a constant.
WRITES = """\
void g(const double *x, const double *k, int n, double *y) { for (int i = 0; i < n; i++) y[i] = x[i] * k[i]; }
void g_fwd(const double *x, const double *dx, const double *k, const double *dk, int n, double *y, double *dy) {
  g(x, k, n, y);
  for (int i = 0; i < n; i++) dy[i] = dx[i] * k[i];
}
void g_rev(const double *x, double *dx, const double *k, double *dk, int n, double *y, double *dy) {
  for (int i = 0; i < n; i++) { dx[i] += k[i] * dy[i]; if (AFTER) ((double *)k)[i] += x[i] * dy[i]; dy[i] = 0; }
}
void f(const double *x, const double *k, int n, double *y) { g(x, k, n, y); }
"""


def backward(f: Enzyme, *inputs: torch.Tensor) -> None:
    """One gradient of the sum."""
    f.apply(*inputs).sum().backward()


def inputs(count: int, size: int, dtype: torch.dtype = torch.float64) -> list[torch.Tensor]:
    """Random numbers between one and two."""
    generator = torch.Generator().manual_seed(1)
    return [(1 + torch.rand(size, generator=generator, dtype=dtype)).requires_grad_() for _ in range(count)]


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize(
    ("source", "signature", "count", "size", "dtype"),
    [
        (SMALL_COLUMN, "a[n], b[n] -> y[n]", 2, 9, torch.float64),
        (SMALL_ELEMENT, "x[n] -> y[n]", 1, 9, torch.float64),
        (SIX, "x[n] -> y[1]", 1, 20000, torch.float32),
    ],
)
def test_a_small_part_that_is_wrong_is_seen(
    source: str, signature: str, count: int, size: int, dtype: torch.dtype, compile_source: Compile
) -> None:
    """And what is right passes."""
    right = compile_source(source, "f", signature, derivatives=RULES, defines={"FACTOR": "2"})
    backward(right, *inputs(count, size, dtype))
    wrong = compile_source(source, "f", signature, derivatives=RULES, defines={"FACTOR": "3"})
    with pytest.raises(ffgrad.DifferentiationError, match="the reverse derivative given for `g` is wrong"):
        backward(wrong, *inputs(count, size, dtype))


@pytest.mark.usefixtures("cache")
def test_other_orders_of_the_values_are_looked_at(compile_source: Compile) -> None:
    """At sorted values the wrong branch is not taken."""
    x = torch.arange(1, 8, dtype=torch.float64)
    right = compile_source(FALLING, "f", "x[n] -> y[n]", derivatives=RULES, defines={"FACTOR": "2"})
    backward(right, x.clone().requires_grad_())
    wrong = compile_source(FALLING, "f", "x[n] -> y[n]", derivatives=RULES, defines={"FACTOR": "3"})
    with pytest.raises(ffgrad.DifferentiationError, match="the reverse derivative given for `g` is wrong"):
        backward(wrong, x.clone().requires_grad_())


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("value", [None, 0.8])
def test_no_value_leaves_the_range_of_those_given(value: float | None, compile_source: Compile) -> None:
    """Where there are none beyond: the function would end the process."""
    f = compile_source(TABLE, "f", "x[n] -> y[n]")
    x = torch.tensor([0.35, 0.85, 0.45] if value is None else [value + 0.05] * 3, dtype=torch.float64)
    backward(f, x.requires_grad_())
    assert x.grad is not None and torch.allclose(x.grad, 2 * x * (1 + (x * 10).floor()))


@pytest.mark.usefixtures("cache")
def test_a_derivative_that_writes_to_a_constant_is_refused(compile_source: Compile) -> None:
    """By name, although the gradient is right; and the caller's array stays as it was."""
    x, k = inputs(2, 5)
    k = k.detach()
    before = k.clone()
    backward(compile_source(WRITES, "f", "x[n], k[n] -> y[n]", derivatives=RULES, defines={"AFTER": "0"}), x, k)
    f = compile_source(WRITES, "f", "x[n], k[n] -> y[n]", derivatives=RULES, defines={"AFTER": "1"})
    with pytest.raises(ffgrad.DifferentiationError, match="derivative given for `g` is wrong"):
        backward(f, x, k)
    assert torch.equal(k, before)


# Two functions that keep state from call to call; a third that fills a table once.
SUMS_UP = """\
void f(const double *x, int n, double *y) {
  static double total;
  for (int i = 0; i < n; i++) { total += x[i]; y[i] = x[i] * x[i] + total; }
}
"""
DRAWS = """\
#include <stdlib.h>
void f(const double *x, int n, double *y) { for (int i = 0; i < n; i++) y[i] = x[i] * x[i] + rand() % 1000; }
"""
FILLS_ONCE = """\
void f(const double *x, int n, double *y) {
  static int table[4];
  static int filled;
  if (!filled) { for (int k = 0; k < 4; k++) table[k] = k + 1; filled = 1; }
  for (int i = 0; i < n; i++) y[i] = x[i] * x[i] / table[i % 4];
}
"""


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("source", [SUMS_UP, DRAWS])
def test_a_result_that_depends_on_earlier_calls_is_refused_as_such(source: str, compile_source: Compile) -> None:
    """With the output that differs."""
    f = compile_source(source, "f", "x[n] -> y[n]")
    for _ in range(2):
        with pytest.raises(ffgrad.DifferentiationError, match="the result depends on earlier calls") as caught:
            backward(f, *inputs(1, 5))
        assert caught.value.code == "depends-on-earlier-calls" and "differ in `y`" in str(caught.value)


@pytest.mark.usefixtures("cache")
def test_a_table_that_is_filled_once_is_no_state(compile_source: Compile) -> None:
    """Its values are the same in every call."""
    (x,) = inputs(1, 6)
    backward(compile_source(FILLS_ONCE, "f", "x[n] -> y[n]"), x)
    assert x.grad is not None
    assert torch.allclose(x.grad, 2 * x / torch.tensor([1, 2, 3, 4, 1, 2], dtype=torch.float64))


TIMES = """\
#include <sys/time.h>
#include <time.h>
void f(const double *x, int n, double *y) {
  struct timeval now;
  gettimeofday(&now, 0);
  for (int i = 0; i < n; i++) y[i] = x[i] * (WHICH);
}
"""
DRAWS_ALIKE = """\
#include <stdlib.h>
#include <time.h>
void f(const double *x, int n, double *y) {
  srand(time(0));
  for (int i = 0; i < n; i++) y[i] = x[i] * (rand() % 1000);
}
"""


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("front", ["torch", "numpy"])
@pytest.mark.parametrize(
    "source", [DRAWS, DRAWS_ALIKE, *(TIMES.replace("WHICH", w) for w in ("time(0)", "clock()", "now.tv_usec"))]
)
def test_random_numbers_and_times_stay_refused_when_a_notebook_cell_is_run_again(
    front: str, source: str, write: Write
) -> None:
    """Opened again and called again; also where two calls in the same second give the same."""
    path = write(source)
    for _ in range(2):
        with pytest.raises(ffgrad.DifferentiationError, match="the result depends on earlier calls") as caught:
            if front == "torch":
                backward(enzyme(path, "f", "x[n] -> y[n]"), *inputs(1, 5))
            else:
                numpy_enzyme(path, "f", "x[n] -> y[n]").vjp(np.ones(5))[1](np.ones(5))
        assert caught.value.code == "depends-on-earlier-calls"


# A derivative given by the user of which one element among thousands is wrong by a tenth.
SINGLE = """\
void scale(const float *x, int n, float *y) { for (int i = 0; i < n; i++) y[i] = 1.5f * x[i] * x[i]; }
void scale_fwd(const float *x, const float *dx, int n, float *y, float *dy) {
  for (int i = 0; i < n; i++) { y[i] = 1.5f * x[i] * x[i]; dy[i] = 3.0f * x[i] * dx[i]; }
}
void scale_rev(const float *x, float *dx, int n, float *y, float *dy) {
  for (int i = 0; i < n; i++) { dx[i] += 3.0f * x[i] * dy[i] * (i == 777 ? WRONG : 1.0f); dy[i] = 0; }
}
void f(const float *x, int n, float *y) { scale(x, n, y); }
"""


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("size", [2000, 20_000])
def test_a_small_error_in_one_element_is_seen_in_single_precision(size: int, compile_source: Compile) -> None:
    """By its own part, below what a sum over everything tells."""
    for factor in ("1.0f", "1.1f"):
        rules = {"scale": ("scale_fwd", "scale_rev")}
        f = compile_source(SINGLE, "f", "x[n] -> y[n]", derivatives=rules, defines={"WRONG": factor})
        x = (torch.rand(size) + 0.5).requires_grad_()
        if factor == "1.0f":
            f.apply(x).sum().backward()
            continue
        with pytest.raises(ffgrad.DifferentiationError, match="derivative given for `scale` is wrong"):
            f.apply(x).sum().backward()


# All of it wrong by 2 parts in ten thousand: less than rounding may do in single precision, where sums cancel.
SLIGHT = """\
#include <math.h>
float steep(float x) { return x * x; }
float steep_fwd(float x, float dx, float *dy) { *dy = 2 * x * dx; return steep(x); }
void steep_rev(float x, float *dx, float dy) { *dx += FACTOR * x * dy; }
float f(const float *x, int n) { float s = 0; for (int i = 0; i < n; i++) s += steep(x[i]) * sinf(x[i]); return s; }
"""


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("verify", ["once", "strict"])
@pytest.mark.parametrize("factor", ["2.0f", "2.0004f"])
def test_what_is_doubtful_in_single_precision_is_decided_in_double(
    factor: str, verify: str, compile_source: Compile
) -> None:
    """The same source with `float` as `double` fails its check where the derivative is wrong."""
    rules = {"steep": ("steep_fwd", "steep_rev")}
    f = compile_source(SLIGHT, "f", "x[n] -> return", derivatives=rules, defines={"FACTOR": factor}, verify=verify)
    x = torch.linspace(0.5, 1.5, 40, requires_grad=True)
    if factor == "2.0f":
        f.apply(x).backward()
        expected = 2 * x * torch.sin(x) + x * x * torch.cos(x)
        torch.testing.assert_close(x.grad, expected.detach(), rtol=1e-5, atol=0.0)
        return
    with pytest.raises(ffgrad.DifferentiationError, match="given for `steep` is wrong"):
        f.apply(x).backward()


OWN = "float f(const float *x, int n) { float s = 0; for (int i = 0; i < n; i++) s += BODY; return s; }\n"


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize(
    "body",
    ["x[i] * x[i]", "(union { float f; int i; }){x[i]}.i > 0 ? x[i] : 2 * x[i]", "__builtin_sqrtf(x[i])"],
)
def test_a_source_without_a_double_build_is_checked_as_before(body: str, compile_source: Compile) -> None:
    """`strict` asks for one each time: what uses the bits of a float is another function then."""
    f = compile_source(OWN, "f", "x[n] -> return", defines={"BODY": body}, verify="strict")
    x = torch.linspace(0.5, 1.5, 40, requires_grad=True)
    f.apply(x).backward()
    assert x.grad is not None and bool((x.grad > 0).all())


# Two parts of the result; the rewrite that makes the second one right is left out, and its derivative is then zero in both modes.
DROPPED = """\
static const double *p;
static double power(int k) { return k == 0 ? p[0] : 0.5 * power(k - 1) + 0.1 * p[1] * power(k / 2); }
void f(const double *x, int n, double *y) { p = x; for (int i = 2; i < n; i++) y[i] = power(6) + 1000 * x[i] * x[i]; }
void g(const double *q, const double *x, int n, double *y) { p = q; for (int i = 0; i < n; i++) y[i] = power(6) + 1000 * x[i] * x[i]; }
"""


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize(("function", "signature"), [("f", "x[n] -> y[n]"), ("g", "q[2], x[n] -> y[n]")])
def test_a_small_derivative_that_both_modes_drop_is_seen(
    function: str, signature: str, compile_source: Compile
) -> None:
    """Differences of the whole do not see it: another part is ten thousand times as large."""
    inputs = [torch.rand(2), torch.rand(5)] if function == "g" else [torch.rand(7)]
    given = [(x.double() + 0.5).requires_grad_() for x in inputs]
    right = compile_source(DROPPED, function, signature)
    right.apply(*given).sum().backward()
    assert given[0].grad is not None and bool((given[0].grad[:2] != 0).all())
    wrong = compile_source(DROPPED, function, signature, without=["written-globals"])
    with pytest.raises(ffgrad.DifferentiationError, match="finite differences give"):
        wrong.apply(*given).sum().backward()


# The forward mode goes through the bits of x and gives NaN, the reverse mode zero.
BITS = """\
#include <math.h>
#include <stdint.h>
#include <string.h>
static double log_of(double x) {
  uint64_t u;
  memcpy(&u, &x, 8);
  int e = (int)(u >> 52) - 1023;
  u = (u & 0xfffffffffffffULL) | 0x3ff0000000000000ULL;
  double m, s, t;
  memcpy(&m, &u, 8);
  s = (m - 1) / (m + 1);
  t = s * s;
  return e * 0.6931471805599453 + 2 * s * (1 + t * (1. / 3 + t * (1. / 5 + t / 7)));
}
void f(const double *x, int n, double *y) { for (int i = 0; i < n; i++) y[i] = log_of(x[i]) * x[i]; }
"""


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("verify", ["once", "always"])
def test_a_derivative_that_one_mode_has_and_the_other_has_not_is_refused(verify: str, compile_source: Compile) -> None:
    """At each call, not at the first alone."""
    f = compile_source(BITS, "f", "x[n] -> y[n]", verify=verify)
    for _ in range(3):
        x = torch.tensor([0.3, 1.2, 4.0], dtype=torch.float64, requires_grad=True)
        with pytest.raises(ffgrad.DifferentiationError):
            f.apply(x).sum().backward()
