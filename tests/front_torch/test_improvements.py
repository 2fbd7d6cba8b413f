"""Optimisations of the worker change no gradient: each alone, all of them, and none are compared.

Also: that they happen where they should (seen in the IR kept in the cache), and that arithmetic which depends on its order
(rounding by a large constant, compensated sums) is left alone.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from ffgrad.torch import Enzyme, enzyme

IMPROVEMENTS = (
    "defer-inlining",
    "sole-calls",
    "keep-results",
    "borders",
    "sweeps",
    "iterations",
    "path-slots",
    "large-structs",
    "derivative-arithmetic",
    "sums",
    "byte-flags",
    "dead-stores",
    "split-scatters",
    "reverse-loops",
    "scatter-to-gather",
    "fuse-loops",
    "zero-memory",
    "vector-math",
)

SOURCE = """
#include <math.h>
#include <stdlib.h>

/* In place, time steps, nothing of the forward sweep needed by the reverse. */
void heat(double* u, double k, int n, int steps) {
  double* next = malloc(n * sizeof(double));
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++) next[i] = u[i] + k * (u[i - 1] - 2.0 * u[i] + u[i + 1]);
    for (int i = 1; i < n - 1; i++) u[i] = next[i];
  }
  free(next);
}

/* Five neighbours with different weights, one of them nonlinear. */
void five(const double* x, int n, double* y) {
  for (int i = 0; i < n; i++) y[i] = 0.0;
  for (int i = 2; i < n - 2; i++)
    y[i] = 0.1 * x[i - 2] - 0.7 * x[i - 1] + sin(x[i]) + 1.3 * x[i + 1] - 0.2 * x[i + 2] * x[i];
}

/* Downwards, and in single precision. */
void down(const float* x, int n, float* y) {
  y[0] = x[0];
  for (int i = n - 1; i >= 1; i--) y[i] = 0.5f * x[i] + 0.25f * x[i - 1];
}

/* A gap between the neighbours: left as it is. */
void gap(const double* x, int n, double* y) {
  for (int i = 0; i < n; i++) y[i] = 0.0;
  for (int i = 0; i + 3 < n; i++) y[i] = x[i] * x[i + 3];
}

/* Two dimensions: rows above and below are groups of their own in the same array. */
void plane(const double* x, int m, int n, double* y) {
  for (int i = 0; i < m * n; i++) y[i] = 0.0;
  for (int i = 1; i < m - 1; i++)
    for (int j = 1; j < n - 1; j++)
      y[i * n + j] = x[(i - 1) * n + j] + 2.0 * x[i * n + j - 1] - 4.0 * x[i * n + j] + 3.0 * x[i * n + j + 1] +
                     0.5 * x[(i + 1) * n + j];
}

/* Every cell needs the one before: the order of iterations matters. */
void filter(const double* x, double a, int n, double* y) {
  double s = 0.0;
  for (int i = 0; i < n; i++) y[i] = s = a * s + x[i] * x[i];
}

/* Sums whose sign changes with every iteration: the order of iterations matters. */
double alternating(const double* x, int n) {
  double s = 1.0, t = 0.5;
  for (int i = 0; i < n; i++) s = x[i] * x[i] - s;
  for (int i = 0; i < n; i++) t = x[n - 1 - i] - t;
  return s * t;
}

void layer(const double* A, const double* x, int m, int n, double* y) {
  for (int i = 0; i < m; i++) {
    double s = 0.0;
    for (int j = 0; j < n; j++) s += A[i * n + j] * x[j];
    y[i] = tanh(s);
  }
}

/* Elements: each gathers into local arrays, adds to its nodes, and to a sum. */
double mesh(const double* x, const int* node, int elements, int n, double* force) {
  double energy = 0.0;
  for (int i = 0; i < n; i++) force[i] = 0.0;
  for (int e = 0; e < elements; e++) {
    double at[4], slope[4], all = 0.0;
    for (int k = 0; k < 4; k++) at[k] = x[node[4 * e + k]];
    for (int k = 0; k < 4; k++) slope[k] = at[(k + 1) % 4] * at[(k + 3) % 4] - 0.3 * at[k] * at[k];
    for (int k = 0; k < 4; k++) all += slope[k] * at[k];
    if (all > 0.0) all *= 1.0 + all;
    for (int k = 0; k < 4; k++) force[node[4 * e + k]] += all * slope[k];
    energy += all * all;
  }
  return energy;
}

/* The same by turns: an element reads the forces of those before it. */
double relaxed(const double* x, const int* node, int elements, int n, double* force) {
  double energy = 0.0;
  for (int i = 0; i < n; i++) force[i] = x[i];
  for (int e = 0; e < elements; e++) {
    double at[4], slope[4];
    for (int k = 0; k < 4; k++) at[k] = force[node[4 * e + k]];
    for (int k = 0; k < 4; k++) slope[k] = at[(k + 1) % 4] * at[(k + 3) % 4] - 0.3 * at[k] * at[k];
    for (int k = 0; k < 4; k++) force[node[4 * e + k]] += 0.1 * slope[k];
    for (int k = 0; k < 4; k++) energy += at[k] * slope[k];
  }
  return energy;
}

/* What the elements read is overwritten behind the loop, and the local array lives on through all elements. */
double reused(double* x, const int* node, int elements, int n) {
  double at[4] = {1.0, 0.5, 0.25, 0.125}, energy = 0.0;
  for (int e = 0; e < elements; e++) {
    for (int k = 0; k < 4; k++) at[k] = 0.5 * at[(k + 1) % 4] + x[node[4 * e + k]];
    for (int k = 0; k < 4; k++) energy += at[k] * at[(k + 1) % 4] * at[(k + 2) % 4];
  }
  for (int e = 0; e < elements; e++) {
    double own[4];
    for (int k = 0; k < 4; k++) own[k] = x[node[4 * e + k]];
    for (int k = 0; k < 4; k++) energy += own[k] * own[(k + 1) % 4] * own[(k + 2) % 4];
  }
  for (int i = 0; i < n; i++) x[i] = x[i] * energy;
  return energy;
}

/* What is computed before an inner loop is a factor in it. */
void spread(const double* x, int n, double* y) {
  for (int j = 0; j < n; j++) y[j] = 0.0;
  for (int i = 0; i < n; i++) {
    double weight = exp(-x[i] * x[i]);
    for (int j = 0; j < n; j++) y[j] += weight * x[j] * (1.0 + weight * x[j]);
  }
}

static double noise(double x) { return exp(-x * x) * cos(3.0 * x); }

double chain(const double* x, int n) {
  double s = 1.0, lowest = 1.0;
  for (int i = 0; i < n; i++) {
    s *= exp(0.1 * noise(x[i]));
    if (s < lowest) lowest = s;
  }
  return s + lowest;
}
"""

PROGRAMS: dict[str, tuple[str | None, list[tuple[tuple[int, ...], type]]]] = {
    "heat": ("u[n], const k, steps -> u[n]", []),
    "five": ("x[n] -> y[n]", []),
    "down": ("x[n] -> y[n]", []),
    "gap": ("x[n] -> y[n]", []),
    "plane": ("x[m,n] -> y[m,n]", []),
    "filter": ("x[n], a -> y[n]", []),
    "alternating": ("x[n] -> return", []),
    "layer": ("A[m,n], x[n] -> y[m]", []),
    "mesh": ("x[n], node[elements,4] -> return, force[n]", []),
    "relaxed": ("x[n], node[elements,4] -> return, force[n]", []),
    "reused": ("x[n], node[elements,4] -> return, x[n]", []),
    "spread": ("x[n] -> y[n]", []),
    "chain": ("x[n] -> return", []),
}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("improvements") / "programs.c"
    path.write_text(SOURCE)
    return path


def opened(source: Path, name: str, **options: Any) -> Enzyme:
    return enzyme(source, name, PROGRAMS[name][0], **options)


def arguments(name: str, n: int) -> list[Any]:
    draw = torch.Generator().manual_seed(n)

    def of(*shape: int, dtype: torch.dtype = torch.float64) -> torch.Tensor:
        return torch.randn(*shape, dtype=dtype, generator=draw).requires_grad_()

    if name == "plane":
        return [of(n, n + 3)]
    if name == "layer":
        return [of(3, n), of(n)]
    if name in ("mesh", "relaxed", "reused"):
        return [of(n), torch.randint(n, (n + 2, 4), dtype=torch.int32, generator=draw)]
    extra: list[Any] = {"heat": [0.1, 7], "filter": [torch.tensor(0.7, dtype=torch.float64).requires_grad_()]}.get(
        name, []
    )
    return [of(n, dtype=torch.float32 if name == "down" else torch.float64), *extra]


def gradients(f: Enzyme, values: list[Any]) -> tuple[torch.Tensor, ...]:
    results = f.apply(*values)
    weighted = torch.zeros((), dtype=torch.float64)
    for result in results if isinstance(results, tuple) else (results,):
        weights = torch.linspace(0.5, 1.5, result.numel(), dtype=result.dtype).reshape(result.shape)
        weighted = weighted + (result * weights).sum()
    wanted = [v for v in values if isinstance(v, torch.Tensor) and v.requires_grad]
    return torch.autograd.grad(weighted, wanted)


def close(a: tuple[torch.Tensor, ...], b: tuple[torch.Tensor, ...]) -> None:
    for one, other in zip(a, b, strict=True):
        tolerance = 1e-12 if one.dtype == torch.float64 else 1e-5
        torch.testing.assert_close(one, other, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_improvement_changes_a_gradient(source: Path, name: str) -> None:
    """Against the build with all of them left out, for lengths around every vector width and edge."""
    plain = opened(source, name, without=IMPROVEMENTS, arena=False, pipeline="o1")
    full = opened(source, name)
    for n in (1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 33, 64, 70):
        values = arguments(name, n)
        close(gradients(full, values), gradients(plain, values))


@pytest.mark.parametrize("left_out", IMPROVEMENTS)
def test_each_improvement_can_be_left_out(source: Path, left_out: str) -> None:
    for name in ("five", "heat", "chain", "mesh"):
        values = arguments(name, 37)
        close(gradients(opened(source, name, without=[left_out]), values), gradients(opened(source, name), values))


@pytest.mark.parametrize("math", ["strict", "contract", "fast"])
@pytest.mark.parametrize("name", ["five", "plane", "heat", "layer"])
def test_every_mode_of_arithmetic_gives_the_gradient(source: Path, name: str, math: str) -> None:
    values = arguments(name, 9)
    f = opened(source, name, math=math)
    inputs = [v for v in values if isinstance(v, torch.Tensor)]
    assert torch.autograd.gradcheck(lambda *t: f.apply(*t, *values[len(inputs) :]), inputs)


def final_ir(source: Path, name: str, tmp_path: Path, **options: Any) -> str:
    """Build the gradient in a cache of its own and return the IR behind its object code."""
    old = os.environ["FFGRAD_CACHE_DIR"]
    os.environ["FFGRAD_CACHE_DIR"] = str(tmp_path / "cache")
    try:
        gradients(opened(source, name, **options), arguments(name, 20))
    finally:
        os.environ["FFGRAD_CACHE_DIR"] = old
    (path,) = (tmp_path / "cache").glob("v*/entries/*/*/final.ll")
    return path.read_text()


def test_whole_arrays_are_kept_where_malloc_puts_them(tmp_path: Path) -> None:
    """Enzyme caches all of ``u`` at once and takes malloc's memory to be aligned to 64 bytes, which it is not."""
    path = tmp_path / "whole.c"
    path.write_text(
        """
        static double energy(const double* u, int n) {
          double s = 0;
          for (int i = 0; i < n; i++) s += u[i] * u[i];
          return s;
        }
        double f(const double* x, int n) {
          double u[8], s = 0;
          for (int t = 1; t <= 3; t++) {
            for (int i = 0; i < n; i++) u[i] = t * x[i] * x[i];
            s += energy(u, n);
          }
          return s;
        }"""
    )
    x = torch.linspace(0.5, 1.0, 4, dtype=torch.float64, requires_grad=True)
    for arena in (False, True):
        f = enzyme(path, "f", "x[n] -> return", pipeline="inlined", arena=arena)
        for _ in range(50):
            (gradient,) = torch.autograd.grad(f.apply(x), x)
            torch.testing.assert_close(gradient, 56 * x.detach() ** 3)


def test_the_reverse_of_a_stencil_gathers(source: Path, tmp_path: Path) -> None:
    """Four values are carried from iteration to iteration for five neighbours; none where it is left out, or arithmetic is strict."""

    def is_gathered(name: str, **options: Any) -> bool:
        """In vectorised code, loop-carried values have LLVM's name for them."""
        text = final_ir(source, "five", tmp_path / name, **options)
        return "%carried" in text or "%vector.recur" in text

    assert is_gathered("full")
    assert not is_gathered("without", without=["scatter-to-gather"])
    assert not is_gathered("strict", math="strict")
    assert "%carried" not in final_ir(source, "gap", tmp_path / "gap")


# A stencil in two dimensions with borders; buffers that change places; another whose minimum is taken.
PLANE = """
#include <stdlib.h>
#include <string.h>
void plane(const double *t, const double *k, int n, int m, int steps, double *out) {
  double *a = malloc(n * m * sizeof(double)), *b = malloc(n * m * sizeof(double));
  memcpy(a, t, n * m * sizeof(double));
  for (int s = 0; s < steps; s++) {
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++) {
        double mine = a[i * m + j];
        double north = i > 0 ? a[(i - 1) * m + j] : mine, south = i + 1 < n ? a[(i + 1) * m + j] : mine;
        double west = j > 0 ? a[i * m + j - 1] : mine, east = j + 1 < m ? a[i * m + j + 1] : mine;
        b[i * m + j] = mine + k[0] * north * south + k[1] * west * east;
      }
    double *other = a;
    a = b;
    b = other;
  }
  memcpy(out, a, n * m * sizeof(double));
  free(a);
  free(b);
}
void least(const double *cost, int n, int m, double *best) {
  double *next = malloc(m * sizeof(double));
  memcpy(best, cost, m * sizeof(double));
  for (int i = 1; i < n; i++) {
    for (int j = 0; j < m; j++) {
      double west = j > 0 ? best[j - 1] : best[j], east = j + 1 < m ? best[j + 1] : best[j];
      double less = best[j] < west ? best[j] : west;
      next[j] = cost[i * m + j] + (east < less ? east : less);
    }
    memcpy(best, next, m * sizeof(double));
  }
  free(next);
}
"""


@pytest.mark.parametrize(
    ("name", "signature", "needed"),
    [
        ("plane", "t[n,m], k[2], steps -> out[n,m]", ("borders", "scatter-to-gather")),
        ("least", "cost[n,m] -> best[m]", ("borders",)),
    ],
)
def test_the_reverse_of_a_stencil_with_borders_is_vectorised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, signature: str, needed: tuple[str, ...]
) -> None:
    path = tmp_path / "plane.c"
    path.write_text(PLANE)
    given = torch.rand(6, 7, dtype=torch.float64).requires_grad_()
    others = (torch.tensor([0.1, 0.2], dtype=torch.float64), 3) if name == "plane" else ()

    def is_vectorised(number: int, **options: Any) -> bool:
        """Whether adjoints are carried from vector to vector."""
        cache = tmp_path / f"cache{number}"
        monkeypatch.setenv("FFGRAD_CACHE_DIR", str(cache))
        f = enzyme(path, name, signature, cpu="x86-64-v3", verify="off", pipeline="inlined", **options)
        f.apply(given, *others).sum().backward()
        (ir,) = cache.glob("v*/entries/*/*/final.ll")
        return "%vector.recur" in ir.read_text()

    assert is_vectorised(0)
    for number, left_out in enumerate(needed, start=1):
        assert not is_vectorised(number, without=[left_out]), left_out


def test_a_forward_sweep_that_nobody_needs_is_dropped(source: Path, tmp_path: Path) -> None:
    """The heat equation is linear in its state: the reverse needs no value of the forward sweep."""

    def stencils(ir: str) -> int:
        body = ir[ir.index("ffgrad_vjp") :]
        return body[: body.index("\n}\n")].count("llvm.fmuladd")

    assert stencils(final_ir(source, "heat", tmp_path / "full")) == 0
    assert stencils(final_ir(source, "heat", tmp_path / "without", without=["dead-stores"])) > 0


def test_independent_iterations_are_reversed_one_by_one(source: Path, tmp_path: Path) -> None:
    """Nothing is kept in an array over all elements; where elements read what others have written, all is as it was."""

    def keeps_arrays(name: str, **options: Any) -> bool:
        """Memory whose size is computed."""
        text = final_ir(source, name, tmp_path / f"{name}{len(options)}", arena=False, **options)
        return re.search(r"@(malloc|realloc|calloc)\(.*i64 [^)]*%", text) is not None

    assert not keeps_arrays("mesh")
    assert keeps_arrays("mesh", without=["iterations"])
    assert keeps_arrays("relaxed")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("held-calls", "defer-inlining"),
        ("dead-memory", "dead-stores"),
        ("stencil", "scatter-to-gather"),
        ("forward-loops", "reverse-loops"),
        ("vector-maths", "vector-math"),
    ],
)
def test_old_names_of_improvements_mean_the_same(source: Path, old: str, new: str) -> None:
    """One entry in the cache, and not that of the default."""
    keys = [opened(source, "five", without=without)._native.manifest() for without in ([old], [new], [])]
    keys = [json.loads(manifest)["key"] for manifest in keys]
    assert keys[0] == keys[1] != keys[2]


def test_an_unknown_improvement_is_refused(source: Path) -> None:
    with pytest.raises(TypeError, match=r'"everything".*ffgrad show --passes'):
        opened(source, "five", without=["everything"])


ORDERED = """
/* To the nearest integer by adding a large constant, and a table looked up there. */
void rounded(const double* x, int n, double* y) {
  const double table[8] = {1.0, -2.0, 3.0, 0.5, 7.0, -1.0, 2.0, 4.0};
  for (int i = 0; i < n; i++) {
    const double big = 6755399441055744.0;
    const double whole = (x[i] + big) - big;
    y[i] = table[(int)whole & 7] * x[i] * x[i];
  }
}

/* Kahan's compensated sum, then its square. */
double kahan(const double* x, int n) {
  double sum = 0.0, rest = 0.0;
  for (int i = 0; i < n; i++) {
    const double y = x[i] - rest, t = sum + y;
    rest = (t - sum) - y;
    sum = t;
  }
  return sum * sum;
}
"""


def test_rounding_by_a_large_constant_keeps_its_meaning(tmp_path: Path) -> None:
    """With the order of the user's own additions changed, `whole` would be `x`."""
    path = tmp_path / "ordered.c"
    path.write_text(ORDERED)
    x = torch.tensor([0.2, 0.8, 1.7, 2.4, 3.3, 4.9, 5.1, 6.4], dtype=torch.float64, requires_grad=True)
    y = enzyme(path, "rounded").apply(x)
    (dx,) = torch.autograd.grad(y.sum(), x)
    table = np.array([1.0, -2.0, 3.0, 0.5, 7.0, -1.0, 2.0, 4.0])
    at = x.detach().numpy()
    whole = np.round(at)
    np.testing.assert_allclose(dx.numpy(), 2.0 * table[whole.astype(int) & 7] * at, rtol=1e-14)


def test_a_compensated_sum_keeps_its_precision(tmp_path: Path) -> None:
    """The sum is 2: a plain one loses both ones beside 1e16, so the gradient 2 sum would be 0."""
    path = tmp_path / "ordered.c"
    path.write_text(ORDERED)
    x = torch.tensor([1e16, 1.0, 1.0, -1e16], dtype=torch.float64, requires_grad=True)
    f = enzyme(path, "kahan", "x[n] -> return", verify="off")  # differences see nothing beside 1e16
    (dx,) = torch.autograd.grad(f.apply(x), x)
    assert dx[1].item() == 4.0


def test_a_variant_for_fixed_sizes_gives_the_same_gradient(source: Path) -> None:
    special = opened(source, "layer", specialize=True)
    plain = opened(source, "layer")
    for n in (4, 16, 4, 5):
        values = arguments("layer", n)
        close(gradients(special, values), gradients(plain, values))
    outcomes = list(Path(os.environ["FFGRAD_CACHE_DIR"]).glob("v*/entries/*/special-*-3x*.json"))
    assert {path.stem.rsplit("-", 1)[1] for path in outcomes} == {"3x4", "3x16", "3x5"}


# Seven iterations, which LLVM unrolls: the call of one iteration becomes several. Elements fetch by a helper that is not inlined what others add to.
ITERATIONS = """
double few(const double *x, const double *lambda) {
  double sum = 0.0;
  for (int e = 0; e < 7; e++) {
    double at[4], all = 0.0;
    for (int k = 0; k < 4; k++) at[k] = x[4 * e + k] * x[4 * e + (k + 1) % 4];
    for (int k = 0; k < 4; k++) all += at[k] * at[(k + 1) % 4] * at[(k + 2) % 4];
    sum += all * all;
  }
  return sum + lambda[0] * sum * sum;
}
__attribute__((noinline)) static void fetch(double *to, const double *from, const int *node) {
  for (int k = 0; k < 4; k++) to[k] += from[node[k]];
}
void fetched(double *u, const int *node, int elements, int n) {
  for (int e = 0; e < elements; e++) {
    double at[4] = {0.0, 0.0, 0.0, 0.0}, slope[4];
    fetch(at, u, node + 4 * e);
    for (int k = 0; k < 4; k++) slope[k] = at[(k + 1) % 4] * at[(k + 3) % 4] - 0.3 * at[k] * at[k];
    for (int k = 0; k < 4; k++) u[node[4 * e + k]] += 0.1 * slope[k] * slope[(k + 1) % 4];
  }
}
"""


@pytest.mark.parametrize(
    ("name", "signature"), [("few", "x[28], const lambda[1] -> return"), ("fetched", "u[n], node[elements,4] -> u[n]")]
)
def test_iterations_by_several_calls_and_helpers_are_right_without_a_check(
    tmp_path: Path, name: str, signature: str
) -> None:
    path = tmp_path / "iterations.c"
    path.write_text(ITERATIONS)
    draw = torch.Generator().manual_seed(3)
    first = torch.randn(28, dtype=torch.float64, generator=draw).requires_grad_()
    nodes = torch.randint(28, (30, 4), dtype=torch.int32, generator=draw)
    second = torch.tensor([1.0], dtype=torch.float64) if name == "few" else nodes
    found, expected = (
        torch.autograd.grad(enzyme(path, name, signature, verify="off", **options).apply(first, second).sum(), first)
        for options in ({}, {"without": ["iterations"]})
    )
    close(found, expected)
