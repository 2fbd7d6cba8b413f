"""Bundle adjustment of ADBench's ba1 (49 cameras, 7776 points, 31843 observations): half the sum of squared residuals."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from harness.data import MISSING, adbench
from harness.problem import Function, Problem, Skipped

HERE = Path(__file__).resolve().parent


def problems(quick: bool) -> Iterator[Problem | Skipped]:
    """Yield the row."""
    file = adbench("ba1_n49_m7776_p31843.txt")
    if file is None:
        yield Skipped("bundle ba1", MISSING)
        return
    numbers = np.array(file.read_text().split(), dtype=np.float64)
    n, m, p = (int(v) for v in numbers[:3])
    camera, point, weight, feature = np.split(numbers[3:], [11, 14, 15])
    observation = np.arange(p)
    yield Problem(
        name="bundle ba1",
        folder=HERE,
        source=HERE / "bundle.c",
        function="bundle",
        signature="cameras[n,11], points[m,3], weights[p], seen[p,2], const features[p,2] -> return",
        inputs={
            "cameras": np.tile(camera, (n, 1)),
            "points": np.tile(point, (m, 1)),
            "weights": np.repeat(weight, p),
            "seen": np.stack([observation % n, observation % m], 1).astype(np.int32),
            "features": np.tile(feature, (p, 1)),
        },
        wrt=("cameras", "points", "weights"),
        cotangents={"return": np.float64(1.0)},
        dims={"n": n, "m": m, "p": p},
        primal="cameras points weights seen features n m p",
        gradient="cameras points weights seen features n m p dcameras dpoints dweights",
        torch=_torch,
        jax=_jax,
    )


def _objective(lib: Any, cross: Any, cameras: Any, points: Any, weights: Any, seen: Any, features: Any) -> Any:
    camera, point = cameras[seen[:, 0]], points[seen[:, 1]]
    centred = point - camera[:, 3:6]
    angle = lib.sqrt((camera[:, :3] ** 2).sum(1, keepdims=True))  # no camera of this data has an angle of 0
    c, s, axis = lib.cos(angle), lib.sin(angle), camera[:, :3] / angle
    along = (axis * centred).sum(1, keepdims=True) * (1.0 - c)
    r = centred * c + cross(axis, centred) * s + axis * along
    image = r[:, :2] / r[:, 2:]
    square = (image * image).sum(1, keepdims=True)
    distortion = 1.0 + square * (camera[:, 9:10] + camera[:, 10:11] * square)
    residual = weights[:, None] * (camera[:, 7:9] + camera[:, 6:7] * image * distortion - features)
    return 0.5 * (residual**2).sum() + 0.5 * ((1.0 - weights**2) ** 2).sum()


def _torch() -> Function:
    import torch

    return lambda *inputs: _objective(torch, torch.linalg.cross, *inputs)


def _jax() -> Function:
    import jax.numpy as jnp

    return lambda *inputs: _objective(jnp, jnp.cross, *inputs)
