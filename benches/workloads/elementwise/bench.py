"""An elementwise map, in both precisions and two sizes; over sizes 1e2 to 1e7 for the curve."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.problem import Function, Problem, rng

HERE = Path(__file__).resolve().parent


def problems(quick: bool) -> Iterator[Problem]:
    """Yield the rows."""
    for n, label in ((10_000, "1e4"), (1_000_000, "1e6")):
        for dtype in ("float32", "float64"):
            yield _problem(f"map {label} {dtype}", n, dtype, "suite")
    for power in range(2, 8):
        yield _problem(f"size 1e{power}", 10**power, "float64", "scaling")


def _problem(name: str, n: int, dtype: str, group: str) -> Problem:
    draw = rng(name)
    real = "float" if dtype == "float32" else "double"
    return Problem(
        name=name,
        folder=HERE,
        source=HERE / "elementwise.c",
        function="elementwise",
        signature=None,
        inputs={"x": draw.normal(size=n).astype(dtype)},
        wrt=("x",),
        cotangents={"y": draw.normal(size=n).astype(dtype)},
        dims={"n": n},
        primal="x n y",
        gradient="x n dy dx",
        torch=_torch,
        jax=_jax,
        options={"defines": {"REAL": real}},
        defines=(f"REAL={real}",),
        group=group,
    )


def _torch() -> Function:
    import torch

    return lambda x: torch.sin(x) * x + torch.exp(-x * x)


def _jax() -> Function:
    import jax.numpy as jnp

    def function(x: Any) -> Any:
        return jnp.sin(x) * x + jnp.exp(-x * x)

    return function
