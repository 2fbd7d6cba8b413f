"""x / sum(x) with the sum inside the loop, at n and 4n: the gradient must take four times as long, not sixteen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.problem import Function, Problem, rng

HERE = Path(__file__).resolve().parent
N = 4000


def problems(quick: bool) -> Iterator[Problem]:
    """Yield the rows."""
    for n in (N, 4 * N):
        name = f"normalise {n}"
        draw = rng(name)
        yield Problem(
            name=name,
            folder=HERE,
            source=HERE / "normalise.c",
            function="normalise",
            signature=None,
            inputs={"x": draw.uniform(0.5, 2.0, size=n)},
            wrt=("x",),
            cotangents={"y": draw.normal(size=n)},
            dims={"n": n},
            primal="x n y",
            gradient="x n dy dx",
            torch=_torch,
            jax=_jax,
        )


def _torch() -> Function:

    return lambda x: x / x.sum()


def _jax() -> Function:

    def normalise(x: Any) -> Any:
        return x / x.sum()

    return normalise
