"""Results that the documents promise to be equal bit for bit are, with every version of mathematical functions in the C library.

Vectorised loops call libmvec, their remainders the scalar functions; the two may differ by units in the last place. Where they
agree by luck a broken promise does not show, so ``tests/support/off_by_one.c`` stands in for libmvec: always one unit too large.
"""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from support.fixtures import RunPython, Write
from support.programs import STEP, STEP_SIGNATURE

OFF_BY_ONE = Path(__file__).parent.parent / "support" / "off_by_one.c"

# Calls of several functions, in loops that vectorise and whose remainders do not.
WAVES = """\
#include <math.h>
void waves(const double* x, const double* w, int n, double* y) {
  for (int i = 0; i < n; i++) y[i] = sin(x[i]) * exp(-w[i] * x[i]) + pow(1.0 + x[i] * x[i], 0.3);
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < n; i++) y[i] += log1p(y[i] * y[i]) * cos(w[i]);
}
"""

# What every child does: each pair of gradients must be equal to the bit.
COMMON = """
import torch
from ffgrad.torch import enzyme

torch.manual_seed(0)
STEP = [lambda n: torch.randn(n), lambda n: torch.randn(n, n), lambda n: torch.randn(())]
WAVES = [lambda n: torch.randn(n), lambda n: torch.randn(n)]
torch.set_default_dtype(torch.float64)

def inputs(shapes, n):
    return [make(n).requires_grad_() for make in shapes]

def outputs(op, arguments):
    y = op.apply(*arguments)
    return y if isinstance(y, tuple) else (y,)

def same(what, n, first, second):
    for a, b in zip(first, second, strict=True):
        assert torch.equal(a, b), f"{what} at n = {n}: they differ by {(a - b).abs().max():.1e}"

def gradients(ys, xs, vs, **options):
    return torch.autograd.grad(ys, xs, vs, **options)
"""

TAPED = """
for shapes, op in (STEP, step), (WAVES, waves):
    for n in range(1, 24):
        xs = inputs(shapes, n)
        ys = outputs(op, xs)
        assert ys[0].grad_fn.tape.nbytes > 0
        vs = [torch.randn_like(y) for y in ys]
        first = gradients(ys, xs, vs, retain_graph=True)
        assert ys[0].grad_fn.tape.nbytes == 0
        same("a second gradient", n, first, gradients(ys, xs, vs, retain_graph=True))
        same("the gradient of one input", n, first[:1], gradients(ys, xs[:1], vs, retain_graph=True))
        same("a differentiable gradient", n, first, gradients(ys, xs, vs, create_graph=True))
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t.clone()):
            same("a gradient at moved inputs", n, first, gradients(outputs(op, xs), xs, vs))
        fresh = [x.detach().clone().requires_grad_() for x in xs]
        same("a tape of another call", n, first, gradients(outputs(op, fresh), fresh, vs))
        given = tuple(x.detach() for x in xs)
        def total(*arguments):
            y = op.apply(*arguments)
            return sum((v * part).sum() for v, part in zip(vs, y if isinstance(y, tuple) else (y,)))
        every = tuple(range(len(given)))
        same("torch.func.grad", n, first, torch.func.grad(total, every)(*given))
        rows = [torch.stack([x, x + 1]) for x in given]
        mapped = torch.func.vmap(torch.func.grad(total, every))(*rows)
        same("vmap", n, first, [g[0] for g in mapped])
"""

RECOMPUTED = """
for n in range(1, 24):
    xs = [torch.randn(5, n).requires_grad_(), torch.randn(5, n).requires_grad_()]
    v, t = torch.randn(5, n), torch.randn(5, n)
    singles = [[x[i].detach().requires_grad_() for x in xs] for i in range(5)]
    for threads, op in (1, waves), (2, threaded):
        y = op.apply(*xs)
        ys = [op.apply(*x) for x in singles]
        same(f"values of a batch on {threads} threads", n, y, ys)
        all_at_once = gradients(y, xs, v, retain_graph=True)
        same("a second gradient", n, all_at_once, gradients(y, xs, v))
        one_by_one = [gradients(ys[i], singles[i], v[i]) for i in range(5)]
        same("gradients of a batch", n, all_at_once, [torch.stack(g) for g in zip(*one_by_one)])
        def along(x, t):
            return torch.func.jvp(lambda x: op.apply(x, torch.zeros(n)), (x,), (t,))[1]
        tangents = [along(xs[0][i].detach(), t[i]) for i in range(5)]
        same("tangents of a batch", n, torch.func.vmap(along)(xs[0].detach(), t), tangents)
"""


@pytest.fixture(scope="module")
def off_by_one(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that stands in for libmvec."""
    if platform.machine() != "x86_64":
        pytest.skip("the vector functions have the names of x86-64")
    library = tmp_path_factory.mktemp("libmvec") / "liboff.so"
    command = ["cc", "-O1", "-shared", "-fPIC", "-Wno-psabi", "-o", library, OFF_BY_ONE, "-lm"]
    subprocess.run(command, check=True, capture_output=True)
    return library


@pytest.fixture(params=["as it is", "off by one", "without AVX2 and AVX-512"])
def environment(request: pytest.FixtureRequest) -> Mapping[str, str | None]:
    """The versions of the vector functions in a child process."""
    if request.param == "off by one":
        return {"LD_PRELOAD": str(request.getfixturevalue("off_by_one"))}
    if request.param == "as it is":
        return {}
    return {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX2,-FMA,-FMA4"}


def test_gradients_have_the_same_bits_with_and_without_their_tape(
    run_python: RunPython, write: Write, environment: Mapping[str, str | None]
) -> None:
    """In eager mode, under transforms and over a batch: all of them run the same two halves."""
    step, waves = write(STEP, "step.c"), write(WAVES, "waves.c")
    opened = f"""
step = enzyme({str(step)!r}, "step", {STEP_SIGNATURE!r}, mode="tape")
waves = enzyme({str(waves)!r}, "waves", "x[n], w[n] -> y[n]", mode="tape")
"""
    run_python(COMMON + opened + TAPED, environment)


def test_a_batch_has_the_bits_of_single_calls(
    run_python: RunPython, write: Write, environment: Mapping[str, str | None]
) -> None:
    """Values, gradients and tangents, on one thread and on two; and a gradient asked for again."""
    waves = write(WAVES, "waves.c")
    opened = f"""
waves = enzyme({str(waves)!r}, "waves", "x[...,n], w[...,n] -> y[...,n]")
threaded = enzyme({str(waves)!r}, "waves", "x[...,n], w[...,n] -> y[...,n]", threads=2)
"""
    run_python(COMMON + opened + RECOMPUTED, environment)


def test_the_library_is_off_by_one(run_python: RunPython, write: Write, off_by_one: Path) -> None:
    """Otherwise the tests above assert nothing: the loop's vector results are off by one unit, those of its remainder are not."""
    waves = write(
        "#include <math.h>\nvoid f(const double* x, int n, double* y) { for (int i = 0; i < n; i++) y[i] = sin(x[i]); }"
    )
    code = f"""
import numpy as np, math
from ffgrad.numpy import enzyme
x = np.linspace(0.1, 1.0, 67)
y = enzyme({str(waves)!r}, "f")(x)
steps = (y - np.array([math.sin(v) for v in x])) / np.spacing(y)
assert (steps[:64] == 1).mean() > 0.8, steps
assert (steps[64:] == 0).all(), steps
"""
    run_python(code, {"LD_PRELOAD": str(off_by_one)})
