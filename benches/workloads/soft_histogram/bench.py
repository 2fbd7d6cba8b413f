"""A histogram of 4000 samples in 32 soft bins, differentiated with respect to the samples and the width of the bins."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from harness.problem import Function, Problem, rng

HERE = Path(__file__).resolve().parent
N, BINS = 4000, 32


def problems(quick: bool) -> Iterator[Problem]:
    """Yield the row."""
    draw = rng("soft histogram")
    yield Problem(
        name="soft histogram",
        folder=HERE,
        source=HERE / "soft_histogram.c",
        function="histogram",
        signature="x[n], width -> count[bins]",
        inputs={"x": draw.uniform(size=N), "width": np.array(0.05)},
        wrt=("x", "width"),
        cotangents={"count": draw.normal(size=BINS)},
        dims={"n": N, "bins": BINS},
        primal="x width n bins count",
        gradient="x width n bins dcount dx dwidth",
        torch=_torch,
        jax=_jax,
        options={"sizes": {"bins": BINS}},
    )


def _torch() -> Function:
    import torch

    centres = (torch.arange(BINS, dtype=torch.float64) + 0.5) / BINS
    return lambda x, width: torch.exp(-0.5 * ((x[:, None] - centres) / width) ** 2).sum(0)


def _jax() -> Function:
    import jax.numpy as jnp

    centres = (np.arange(BINS) + 0.5) / BINS

    def histogram(x: Any, width: Any) -> Any:
        return jnp.exp(-0.5 * ((x[:, None] - centres) / width) ** 2).sum(0)

    return histogram
