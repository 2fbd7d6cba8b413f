"""Potentials of a network of 40 by 50 nodes by 40 iterations of conjugate gradients; gradients of the conductances and of the right-hand side.

The gradient by hand solves for the adjoint, the others differentiate the iterations: both are the same as far as these have converged.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from harness.problem import Function, Problem, rng

HERE = Path(__file__).resolve().parent
ROWS, COLUMNS, ITERATIONS = 40, 50, 40
N = ROWS * COLUMNS


def _ends() -> np.ndarray:
    node = np.arange(N).reshape(ROWS, COLUMNS)
    pairs = [(node[:, :-1], node[:, 1:]), (node[:-1], node[1:])]
    return np.concatenate([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in pairs]).astype(np.int32)


def problems(quick: bool) -> Iterator[Problem]:
    """Yield the row."""
    draw = rng("conjugate gradients")
    ends = _ends()
    yield Problem(
        name="conjugate gradients",
        folder=HERE,
        source=HERE / "conjugate_gradient.c",
        function="potentials",
        signature="conductance[edges], ends[edges,2], b[n] -> x[n]",
        inputs={"conductance": draw.uniform(0.5, 1.5, size=len(ends)), "ends": ends, "b": draw.normal(size=N)},
        wrt=("conductance", "b"),
        cotangents={"x": draw.normal(size=N)},
        dims={"edges": len(ends), "n": N, "iterations": ITERATIONS},
        primal="conductance ends b edges n iterations x",
        gradient="conductance ends b edges n iterations dx dconductance db",
        torch=_torch,
        jax=_jax,
        options={"sizes": {"iterations": ITERATIONS}},
    )


def _solve(apply: Any, b: Any, zero: Any) -> Any:
    x, r, p = zero, b, b
    square = (r * r).sum()
    for _ in range(ITERATIONS):
        q = apply(p)
        step = square / (p * q).sum()
        x, r = x + step * p, r - step * q
        following = (r * r).sum()
        p, square = r + following / square * p, following
    return x


def _torch() -> Function:
    import torch

    def potentials(conductance: Any, ends: Any, b: Any) -> Any:
        i, j = ends[:, 0].long(), ends[:, 1].long()

        def apply(p: Any) -> Any:
            flow = conductance * (p[i] - p[j])
            return p.index_add(0, i, flow).index_add(0, j, -flow)

        return _solve(apply, b, torch.zeros_like(b))

    return potentials


def _jax() -> Function:
    import jax.numpy as jnp

    def potentials(conductance: Any, ends: Any, b: Any) -> Any:
        i, j = ends[:, 0], ends[:, 1]

        def apply(p: Any) -> Any:
            flow = conductance * (p[i] - p[j])
            return p.at[i].add(flow).at[j].add(-flow)

        return _solve(apply, b, jnp.zeros_like(b))

    return potentials
