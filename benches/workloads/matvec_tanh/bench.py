"""One dense layer, 512 x 512, differentiated with respect to the matrix and the vector."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from harness.problem import Function, Problem, rng

HERE = Path(__file__).resolve().parent
N = 512


def problems(quick: bool) -> Iterator[Problem]:
    """Yield the row."""
    draw = rng("matvec tanh 512")
    yield Problem(
        name="matvec tanh 512",
        folder=HERE,
        source=HERE / "matvec_tanh.c",
        function="layer",
        signature="A[m,n], x[n] -> y[m]",
        inputs={"A": draw.normal(size=(N, N)) / np.sqrt(N), "x": draw.normal(size=N)},
        wrt=("A", "x"),
        cotangents={"y": draw.normal(size=N)},
        dims={"m": N, "n": N},
        primal="A x m n y",
        gradient="A x m n dy dA dx",
        torch=_torch,
        jax=_jax,
    )


def _torch() -> Function:
    import torch

    return lambda A, x: torch.tanh(A @ x)


def _jax() -> Function:
    import jax.numpy as jnp

    return lambda A, x: jnp.tanh(A @ x)
