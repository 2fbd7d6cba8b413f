"""The same mathematics as some kernels of ``cuda_kernels.py`` in NVIDIA Warp, where it is installed (``pip install warp-lang``).

Warp writes its kernels from Python and derives them itself, so its gradients are what a user gets who rewrites the kernel. Numbers
that are differentiated are arrays of one element there.
"""

# No `from __future__ import annotations`: Warp reads the annotations of kernels.

from collections.abc import Callable
from typing import Any

import torch

try:
    import warp as wp
except ImportError:
    wp = None

Times = tuple[Callable[[], Any], Callable[[], list[torch.Tensor]]]


def same(name: str, inputs: list[Any], seed: torch.Tensor) -> Times | None:
    """Return the primal and the reverse pass of a kernel, both ready to be called.

    Parameters
    ----------
    name : str
        A row of ``cuda_kernels.py``.
    inputs : list
        Its inputs: float64 tensors, all on one device. They are not copied.
    seed : torch.Tensor
        The cotangent of the result, not copied either.

    Returns
    -------
    tuple of callables, or None
        The second returns the gradients of the inputs, in memory that the next call uses again.
        None where Warp is not installed or the row is not written for it.
    """
    if wp is None or name not in ROWS:
        return None
    wp.config.quiet = True
    wp.init()
    if inputs[0].is_cuda:
        wp.set_stream(wp.stream_from_torch(torch.cuda.current_stream()))
    kernel, dimensions = ROWS[name]()
    arrays = [wp.from_torch(x.detach().reshape(x.shape or (1,)), requires_grad=True) for x in inputs]
    out = wp.zeros(arrays[0].shape, dtype=wp.float64, requires_grad=True, device=arrays[0].device)
    size = dimensions(out.shape)

    def primal() -> None:
        out.zero_()
        wp.launch(kernel, dim=size, inputs=arrays, outputs=[out], device=out.device)

    tape = wp.Tape()
    with tape:
        primal()
    seed = wp.from_torch(seed)

    def reverse() -> list[torch.Tensor]:
        tape.zero()
        tape.backward(grads={out: seed})
        return [wp.to_torch(a.grad).reshape(x.shape) for a, x in zip(arrays, inputs, strict=True)]

    return primal, reverse


def pointwise() -> tuple[Any, Callable[..., Any]]:
    """Elementwise."""

    @wp.kernel
    def kernel(
        x: wp.array(dtype=wp.float64),
        y: wp.array(dtype=wp.float64),
        a: wp.array(dtype=wp.float64),
        out: wp.array(dtype=wp.float64),
    ):
        i = wp.tid()
        u, v, k = x[i], y[i], a[0]
        out[i] = k * u + wp.sin(v) * wp.exp(-u * u) + wp.pow(wp.float64(1.0) + v * v, k)

    return kernel, lambda shape: shape


def stencil() -> tuple[Any, Callable[..., Any]]:
    """Heat, one step; borders are kept."""

    @wp.kernel
    def kernel(u: wp.array2d(dtype=wp.float64), alpha: wp.array(dtype=wp.float64), v: wp.array2d(dtype=wp.float64)):
        r, c = wp.tid()
        here = u[r, c]
        change = wp.float64(0.0)
        if r > 0 and c > 0 and r < u.shape[0] - 1 and c < u.shape[1] - 1:
            around = u[r, c - 1] + u[r, c + 1] + u[r - 1, c] + u[r + 1, c] - wp.float64(4.0) * here
            change = alpha[0] * around * (wp.float64(1.0) + wp.float64(0.1) * here)
        v[r, c] = here + change

    return kernel, lambda shape: shape


def forces() -> tuple[Any, Callable[..., Any]]:
    """Particles, all pairs, without tiles in shared memory. Sums go into the result: with a local sum, Warp 1.19's
    gradient of ``mass`` is wrong."""

    @wp.kernel
    def kernel(
        position: wp.array2d(dtype=wp.float64),
        mass: wp.array(dtype=wp.float64),
        soft: wp.array(dtype=wp.float64),
        force: wp.array2d(dtype=wp.float64),
    ):
        i = wp.tid()
        for j in range(position.shape[0]):
            dx, dy = position[j, 0] - position[i, 0], position[j, 1] - position[i, 1]
            square = dx * dx + dy * dy + soft[0] * soft[0]
            strength = mass[j] * wp.pow(square, wp.float64(-1.5))
            force[i, 0] += mass[i] * strength * dx
            force[i, 1] += mass[i] * strength * dy

    return kernel, lambda shape: shape[0]


ROWS: dict[str, Callable[[], tuple[Any, Callable[..., Any]]]] = {
    "pointwise": pointwise,
    "stencil": stencil,
    "particle forces": forces,
}
