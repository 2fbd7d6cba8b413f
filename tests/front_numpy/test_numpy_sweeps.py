"""Loop nests that are run again and again (time loops of stencils): what they read is kept, and the nest is run again in the reverse sweep."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ffgrad.numpy import Enzyme, enzyme

HEAD = """\
#include <math.h>
#include <stdlib.h>
#include <string.h>
"""

# Rows and columns, a coefficient for each cell, a few for all, steps.
SIGNATURE = "u[n,m], k[n,m], c[4], steps -> u[n,m]"
PARAMETERS = "{real} *u, const {real} *k, const {real} *c, int n, int m, int steps"


def neighbour(draw: random.Random, array: str, border: str) -> str:
    """A cell near (i, j): outside of the array it is the nearest one, or the one on the other side."""
    di, dj = draw.choice([(0, 0), (0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (0, 2)])
    if border == "wrap":
        return f"{array}[(i + n + ({di})) % n * m + (j + m + ({dj})) % m]"
    if border == "inside":
        return f"{array}[(i + ({di})) * m + j + ({dj if abs(dj) < 2 else 1})]"
    inside = [f"i + {di} < n"] if di > 0 else [f"i > {-di - 1}"] if di < 0 else []
    inside += [f"j + {dj} < m"] if dj > 0 else [f"j > {-dj - 1}"] if dj < 0 else []
    here = f"{array}[i * m + j]"
    return f"({' && '.join(inside)} ? {array}[(i + ({di})) * m + j + ({dj})] : {here})" if inside else here


def cell(draw: random.Random, arrays: list[str], border: str) -> str:
    """A formula of cells near (i, j) that is not linear in any of them."""
    terms = []
    for _ in range(draw.randint(3, 6)):
        one, other = (neighbour(draw, draw.choice(arrays), border) for _ in range(2))
        factor = draw.choice(["c[0]", "c[1]", "k[i * m + j]", "0.3"])
        terms.append(
            draw.choice(
                [f"{factor} * {one}", f"{factor} * {one} * {other}", f"{factor} * {one} / (2 + {other} * {other})"]
            )
        )
    return "0.2 * (" + " + ".join(terms) + ")"


def program(seed: int, real: str) -> str:
    """A function with a time loop: two buffers that change places or are copied, one or two fields, with updates in place."""
    draw = random.Random(seed)
    border = draw.choice(["nearest", "wrap", "inside"])
    low, rows, columns = (1, "n - 1", "m - 1") if border == "inside" else (0, "n", "m")
    loops = f"for (int i = {low}; i < {rows}; i++) for (int j = {low}; j < {columns}; j++)"
    two = draw.random() < 0.5
    fields = ["a", "v"] if two else ["a"]
    moves = draw.choice(["swap", "copy", "three"])
    body = f"    {loops} b[i * m + j] = {cell(draw, fields, border)};\n"
    if two and draw.random() < 0.6:
        body += f"    {loops} v[i * m + j] += 0.1 * sin(v[i * m + j]) * {cell(draw, ['a', 'b'], border)};\n"
    elif two:
        body += f"    {loops} {{ double old = v[i * m + j]; v[i * m + j] = old * b[i * m + j] * c[2] + 0.1 * old * old; }}\n"
    if draw.random() < 0.3:
        body += "    for (int i = 0; i < n; i++) a[i * m] = 0.5 * a[i * m] * a[i * m];\n"
    if moves == "swap":
        body += f"    {real} *other = a; a = b; b = other;\n"
    elif moves == "three":
        body += f"    {real} *other = a; a = b; b = d; d = other;\n"
    else:
        body += f"    memcpy(a, b, n * m * sizeof({real}));\n"
    if draw.random() < 0.3:
        body = f"    if (s % 3 != 1) {{\n{body}    }}\n"
    start = "u" if moves == "copy" and draw.random() < 0.5 else "a"
    lines = [f"void run({PARAMETERS.format(real=real)}) {{", f"  size_t size = n * m * sizeof({real});"]
    if start == "a":
        lines += [f"  {real} *a = malloc(size);", "  memcpy(a, u, size);"]
    else:
        lines += [f"  {real} *a = u;"]
    lines += [f"  {real} *b = malloc(size), *d = malloc(size), *v = malloc(size);"]
    lines += ["  for (int i = 0; i < n * m; i++) b[i] = u[i] * 0.5, d[i] = 0.25 * u[i] * u[i], v[i] = k[i] * 0.7;"]
    lines += ["  for (int s = 0; s < steps; s++) {", body.rstrip("\n"), "  }"]
    lines += [f"  for (int i = 0; i < n * m; i++) u[i] = a[i]{' + v[i] * v[i]' if two else ''};"]
    lines += ["  free(b); free(d); free(v);", "  free(a);" if start == "a" else "", "}"]
    return HEAD + "\n".join(lines) + "\n"


def values(dtype: str, n: int = 5, m: int = 7) -> tuple[Any, ...]:
    draw = np.random.default_rng(1)
    arrays = [draw.uniform(0.4, 1.2, size=shape).astype(dtype) for shape in ((n, m), (n, m), (4,))]
    return (*arrays, 4)


def gradients(f: Enzyme, given: tuple[Any, ...]) -> list[np.ndarray]:
    out, pullback = f.vjp(*given)
    weights = np.linspace(0.5, 1.5, out.size).reshape(out.shape).astype(out.dtype)
    return [g for g in pullback(weights) if g is not None]


@pytest.mark.parametrize("seed", range(12))
def test_random_time_loops_have_the_gradient_that_they_have_without_sweeps(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "run.c"
    path.write_text(program(seed, "double"))
    given = values("float64")
    without: tuple[list[str], ...] = ([], ["sweeps", "borders", "iterations"])
    ours, plain = (
        gradients(enzyme(path, "run", SIGNATURE, verify="off", pipeline="inlined", without=left_out), given)
        for left_out in without
    )
    for one, other in zip(ours, plain, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("real", ["float", "double"])
def test_both_modes_of_random_time_loops_agree(tmp_path: Path, real: str) -> None:
    for seed in (20, 21):
        path = tmp_path / f"run{seed}.c"
        path.write_text(program(seed, real))
        given = values("float32" if real == "float" else "float64")
        f = enzyme(path, "run", SIGNATURE)
        found = gradients(f, given)
        direction = tuple(np.ones_like(x) if isinstance(x, np.ndarray) else None for x in given)
        value, change = f.jvp(given, direction)
        weights = np.linspace(0.5, 1.5, value.size).reshape(value.shape)
        expected = float((weights * change).sum())
        assert float(sum(g.sum() for g in found)) == pytest.approx(expected, rel=1e-3 if real == "float" else 1e-9)
