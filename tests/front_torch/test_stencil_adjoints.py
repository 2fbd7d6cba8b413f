"""Adjoints of stencils: loops that are fused, split by rows, and rid of memory give the gradient of the plain ones.

Also random stencils in one and two dimensions against finite differences and second derivatives, and that the rewrites happen where they
should. Neighbour: ``test_improvements.py``.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from ffgrad.torch import Enzyme, enzyme

PASSES = ("split-scatters", "reverse-loops", "scatter-to-gather", "fuse-loops", "zero-memory")

SOURCE = """
#include <math.h>
#include <stdlib.h>

/* In place, and copied back. */
void heat(double* u, double k, int n, int steps) {
  double* next = malloc(n * sizeof(double));
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++) next[i] = u[i] + k * (u[i - 1] - 2.0 * u[i] + u[i + 1]);
    for (int i = 1; i < n - 1; i++) u[i] = next[i];
  }
  free(next);
}

/* Two neighbours on each side, held between two ends, and copied back by a loop of its own; the copy has a factor. */
void wide(double* u, double k, int n, int steps) {
  double* next = malloc(n * sizeof(double));
  for (int t = 0; t < steps; t++) {
    for (int i = 2; i < n - 2; i++)
      next[i] = u[i] + k * (u[i - 2] - 3.0 * u[i - 1] + u[i] * u[i] + 2.0 * u[i + 1] - u[i + 2]);
    for (int i = 2; i < n - 2; i++) u[i] = 0.9 * next[i];
  }
  free(next);
}

/* Upwind: one neighbour, towards lower indices. */
void upwind(float* u, float c, int n, int steps) {
  float* next = malloc(n * sizeof(float));
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n; i++) next[i] = u[i] - c * (u[i] - u[i - 1]);
    for (int i = 1; i < n; i++) u[i] = next[i];
  }
  free(next);
}

/* The other way round, and downwards. */
void downwind(double* u, double c, int n, int steps) {
  double* next = malloc(n * sizeof(double));
  for (int t = 0; t < steps; t++) {
    for (int i = n - 2; i >= 0; i--) next[i] = u[i] + c * (u[i + 1] - u[i]);
    for (int i = n - 2; i >= 0; i--) u[i] = next[i];
  }
  free(next);
}

/* The copy leaves out a cell, or reaches a cell that the step does not write: the two loops stay two. */
void uneven(double* u, double k, int n, int steps) {
  double* next = malloc(n * sizeof(double));
  for (int i = 0; i < n; i++) next[i] = 0.5 * u[i] * u[i];
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++) next[i] += k * (u[i - 1] - 2.0 * u[i] + u[i + 1]);
    if (t % 2)
      for (int i = 2; i < n - 1; i++) u[i] = next[i];
    else
      for (int i = 0; i < n; i++) u[i] = next[i];
  }
  free(next);
}

/* What the copy reads was moved by a cell: an iteration of one loop needs what a later one of the other writes. */
void moved(double* u, double k, int n, int steps) {
  double* next = malloc((n + 1) * sizeof(double));
  for (int i = 0; i <= n; i++) next[i] = 1.0;
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++) next[i] = u[i] + k * u[i - 1] * u[i + 1];
    for (int i = 1; i < n - 1; i++) u[i] = next[i + 1] + 0.1 * next[i - 1];
  }
  free(next);
}

/* Plates and a block, in place, and with two arrays by turns. */
void plate(double* u, double k, int m, int n, int steps) {
  double* next = malloc((size_t)m * n * sizeof(double));
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < m - 1; i++)
      for (int j = 1; j < n - 1; j++)
        next[i * n + j] = u[i * n + j] + k * (u[(i - 1) * n + j] + 0.5 * u[(i + 1) * n + j] + u[i * n + j - 1] +
                                              u[i * n + j + 1] * u[i * n + j] - 4.0 * u[i * n + j]);
    for (int i = 1; i < m - 1; i++)
      for (int j = 1; j < n - 1; j++) u[i * n + j] = next[i * n + j];
  }
  free(next);
}

static void block_step(const double* u, double* next, double k, int l, int m, int n) {
  const size_t row = n, plane = (size_t)m * n;
  for (int h = 1; h < l - 1; h++)
    for (int i = 1; i < m - 1; i++)
      for (int j = 1; j < n - 1; j++) {
        const size_t c = h * plane + i * row + j;
        next[c] = u[c] + k * (u[c - plane] + u[c + plane] + u[c - row] + 2.0 * u[c + row] + u[c - 1] + u[c + 1] - 6.0 * u[c]);
      }
}

void block(double* u, double k, int l, int m, int n, int steps) {
  const size_t bytes = (size_t)l * m * n * sizeof(double);
  double* other = malloc(bytes);
  for (size_t i = 0; i < (size_t)l * m * n; i++) other[i] = u[i];
  for (int t = 0; t < steps; t++) {
    block_step(u, other, k, l, m, n);
    block_step(other, u, k, l, m, n);
  }
  free(other);
}

/* Rows of one array by a stride that is given, which may be anything: they may overlap. */
void rows(const double* x, int n, int stride, double* y) {
  for (int i = 0; i < n; i++) y[i] = 0.0;
  for (int i = 0; i + 2 * stride < n; i++) y[i] = x[i] * x[i + stride] + x[i + 2 * stride];
}
"""

PROGRAMS: dict[str, str] = {
    "heat": "u[n], const k, steps -> u[n]",
    "wide": "u[n], k, steps -> u[n]",
    "upwind": "u[n], const c, steps -> u[n]",
    "downwind": "u[n], const c, steps -> u[n]",
    "uneven": "u[n], const k, steps -> u[n]",
    "moved": "u[n], const k, steps -> u[n]",
    "plate": "u[m,n], const k, steps -> u[m,n]",
    "block": "u[l,m,n], const k, steps -> u[l,m,n]",
    "rows": "x[n], stride -> y[n]",
}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("stencils") / "programs.c"
    path.write_text(SOURCE)
    return path


def opened(source: Path, name: str, **options: Any) -> Enzyme:
    return enzyme(source, name, PROGRAMS[name], **options)


def arguments(name: str, n: int) -> list[Any]:
    draw = torch.Generator().manual_seed(n)

    def of(*shape: int, dtype: torch.dtype = torch.float64) -> torch.Tensor:
        return torch.randn(*shape, dtype=dtype, generator=draw).requires_grad_()

    rate = torch.tensor(0.1, dtype=torch.float64).requires_grad_()
    shaped: dict[str, list[Any]] = {
        "plate": [of(n + 2, n), 0.1, 4],
        "block": [of(4, n, n + 1), 0.05, 2],
        "rows": [of(n), n % 3],
        "wide": [of(n), rate, 3],
        "upwind": [of(n, dtype=torch.float32), 0.1, 5],
    }
    return shaped.get(name) or [of(n), 0.1, 5]


def gradients(f: Enzyme, values: list[Any]) -> tuple[torch.Tensor, ...]:
    result = f.apply(*values)
    weights = torch.linspace(0.5, 1.5, result.numel(), dtype=result.dtype).reshape(result.shape)
    wanted = [v for v in values if isinstance(v, torch.Tensor) and v.requires_grad]
    return torch.autograd.grad((result * weights).sum(), wanted)


def close(a: tuple[torch.Tensor, ...], b: tuple[torch.Tensor, ...]) -> None:
    for one, other in zip(a, b, strict=True):
        tolerance = 1e-12 if one.dtype == torch.float64 else 1e-5
        torch.testing.assert_close(one, other, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_rewrite_changes_a_gradient(source: Path, name: str) -> None:
    """Against the build without them, for lengths around every vector width and edge."""
    plain = opened(source, name, without=PASSES, arena=False, pipeline="o1")
    full = opened(source, name)
    for n in (1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 33, 64, 70):
        values = arguments(name, n)
        close(gradients(full, values), gradients(plain, values))


@pytest.mark.parametrize("left_out", PASSES)
def test_each_rewrite_can_be_left_out(source: Path, left_out: str) -> None:
    for name in ("heat", "wide", "plate"):
        values = arguments(name, 37)
        close(gradients(opened(source, name, without=[left_out]), values), gradients(opened(source, name), values))


@pytest.mark.parametrize("math", ["strict", "contract", "fast"])
@pytest.mark.parametrize("name", ["wide", "downwind", "plate", "rows"])
def test_every_mode_of_arithmetic_gives_the_gradient(source: Path, name: str, math: str) -> None:
    values = arguments(name, 9)
    f = opened(source, name, math=math)
    inputs = [v for v in values if isinstance(v, torch.Tensor)]
    assert torch.autograd.gradcheck(lambda *t: f.apply(*t, *values[len(inputs) :]), inputs)


def vjp_ir(source: Path, name: str, tmp_path: Path, **options: Any) -> str:
    """Build the gradient in a cache of its own and return the IR behind its object code."""
    old = os.environ["FFGRAD_CACHE_DIR"]
    os.environ["FFGRAD_CACHE_DIR"] = str(tmp_path / "cache")
    try:
        gradients(opened(source, name, **options), arguments(name, 20))
    finally:
        os.environ["FFGRAD_CACHE_DIR"] = old
    (path,) = (tmp_path / "cache").glob("v*/entries/*/*/final.ll")
    text = path.read_text()
    body = text[text.index("@ffgrad_vjp(") :]
    return body[: body.index("\n}\n")]


def test_the_reverse_of_a_step_and_of_the_copy_back_needs_no_second_array(source: Path, tmp_path: Path) -> None:
    def allocates(name: str, key: str, **options: Any) -> bool:
        return "alloc(" in vjp_ir(source, name, tmp_path / f"{name}-{key}", arena=False, **options)

    for name in ("heat", "upwind", "downwind"):
        assert not allocates(name, "full")
        assert allocates(name, "unfused", without=["fuse-loops"])
        assert allocates(name, "stored", without=["zero-memory"])
    assert allocates("heat", "strict", math="strict")
    assert allocates("uneven", "full")
    assert allocates("moved", "full")


def test_the_reverse_of_a_stencil_in_two_dimensions_vectorises(source: Path, tmp_path: Path) -> None:
    def sums(key: str, **options: Any) -> int:
        text = vjp_ir(source, "plate", tmp_path / key, arena=False, **options)
        return len(re.findall(r"fadd reassoc[^<\n]*<(?:4|8) x double>", text))

    assert sums("full", cpu="x86-64-v3") > sums("without", without=["split-scatters"], cpu="x86-64-v3")


def random_stencil(seed: int) -> tuple[str, str, list[torch.Tensor]]:
    """Return a program, its signature and an input: steps of a stencil with neighbours, factors, bounds and a copy back at random."""
    draw = np.random.default_rng(seed)
    number, planar = ("float", "double")[seed % 4 > 0], seed % 3 == 2
    reach = int(draw.integers(1, 3))

    def index(i: int, j: int) -> str:
        return f"(i + {i}) * n + (j + {j})" if planar else f"i + {i}"

    near = [(int(i), int(j)) for i, j in draw.integers(-reach, reach + 1, size=(int(draw.integers(2, 6)), 2))]
    terms = [f"({number}){draw.uniform(-0.4, 0.4):.3f} * u[{index(i, j)}]" for i, j in near]
    if draw.random() < 0.4:
        terms.append(f"({number})0.1 * u[{index(0, 0)}] * u[{index(*near[0])}]")
    low, high = reach + int(draw.integers(0, 2)), reach + int(draw.integers(0, 2))
    first = low + int(draw.random() < 0.2)
    back = ["u[{0}] = next[{0}]", "u[{0}] += 0.5 * next[{0}]", "u[{0}] = 0.7 * next[{0}]"][int(draw.integers(0, 3))]
    length = ("int", "long")[int(draw.integers(0, 2))]

    def inner(start: int, body: str) -> str:
        column = f"for ({length} i = {start}; i < {'m' if planar else 'n'} - {high}; i++)"
        return f"{column} for ({length} j = {low}; j < n - {high}; j++) {body};" if planar else f"{column} {body};"

    size = "m * n" if planar else "n"
    text = f"""
    #include <stdlib.h>
    void f({number}* u, {"int m, " if planar else ""}{length} n, int steps) {{
      {number}* next = calloc({size}, sizeof({number}));
      for (int t = 0; t < steps; t++) {{
        {inner(low, f"next[{index(0, 0)}] {'+' if draw.random() < 0.3 else ''}= {' + '.join(terms)}")}
        {inner(first, back.format(index(0, 0)))}
      }}
      free(next);
    }}"""
    shape = (int(draw.integers(6, 12)), int(draw.integers(6, 24))) if planar else (int(draw.integers(6, 40)),)
    x = torch.from_numpy(draw.normal(size=shape)).to(torch.float32 if number == "float" else torch.float64)
    return text, f"u[{'m,n' if planar else 'n'}], steps -> u[{'m,n' if planar else 'n'}]", [x]


@pytest.mark.parametrize("seed", range(24))
def test_random_stencils_agree_with_differences_and_with_the_plain_build(seed: int, tmp_path: Path) -> None:
    text, signature, (x,) = random_stencil(seed)
    path = tmp_path / "stencil.c"
    path.write_text(text)
    f, plain = (enzyme(path, "f", signature, **o) for o in ({}, {"without": PASSES, "pipeline": "o1", "arena": False}))
    x = x.requires_grad_()
    for steps in (1, 2, 5):
        close(gradients(f, [x, steps]), gradients(plain, [x, steps]))
    if x.dtype == torch.float64:
        assert torch.autograd.gradcheck(lambda u: f.apply(u, 3), (x,))
        if seed % 6 == 1:
            assert torch.autograd.gradgradcheck(lambda u: f.apply(u, 2), (x,))
