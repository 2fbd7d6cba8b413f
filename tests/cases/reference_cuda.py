"""What the CUDA kernels of ``cases.toml`` compute, written again in NumPy; see ``reference.py`` for the rules."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def cuda_pointwise(x: Array, y: Array, a: Array) -> Array:
    return a * x + np.sin(y) * np.exp(-(x**2)) + (1.0 + y**2) ** a


def cuda_heat_step(u: Array, alpha: Array) -> Array:
    v = u.copy()
    laplacian = u[1:-1, :-2] + u[1:-1, 2:] + u[:-2, 1:-1] + u[2:, 1:-1] - 4 * u[1:-1, 1:-1]
    v[1:-1, 1:-1] += alpha * laplacian * (1 + 0.1 * u[1:-1, 1:-1])
    return v


def cuda_block_reduce(x: Array) -> Array:
    total = np.zeros(())
    for start in range(0, len(x), 64):
        s = np.zeros(64)
        s[: len(x[start : start + 64])] = x[start : start + 64]
        while len(s) > 1:
            a, b = s[: len(s) // 2], s[len(s) // 2 :]
            s = a + b + 0.5 * a * b
        total = total + s[0]
    return total


def cuda_dynamic_shared(x: Array) -> Array:
    padded = np.concatenate([[0.0], x, [0.0]])
    return padded[:-2] * x - 0.25 * padded[2:] ** 2


def cuda_warp_reduce(x: Array) -> Array:
    padded = np.zeros(-(-len(x) // 64) * 64)
    padded[: len(x)] = 1 / np.sqrt(1 + x**2)
    v = padded.reshape(-1, 32)
    for d in (16, 8, 4, 2, 1):
        down = np.where(np.arange(32) + d < 32, np.roll(v, -d, axis=1), v)
        v = v + down * (1 + 0.1 * v)
    return np.asarray(v[:, 0].sum())


def cuda_butterfly(x: Array) -> Array:
    e = np.exp(x).reshape(-1, 8)
    return (e / e.sum(axis=1, keepdims=True)).ravel()


def cuda_soft_histogram(x: Array, weight: Array, k: int) -> Array:
    bins = np.zeros(k)
    low = np.clip(np.floor(x * (k - 1)).astype(int), 0, k - 2)
    right = x * (k - 1) - low
    np.add.at(bins, low, weight * (1 - right) ** 2)
    np.add.at(bins, low + 1, weight * right**2)
    return bins


def cuda_gather(x: Array, index: Array) -> Array:
    return np.take(x, index) ** 2 * x[0]


def cuda_matmul(a: Array, b: Array) -> Array:
    return a @ b


def cuda_particle_forces(position: Array, mass: Array, soft: Array) -> Array:
    d = position[None] - position[:, None]
    return np.einsum("i,j,ijk,ij->ik", mass, mass, d, ((d**2).sum(-1) + soft**2) ** -1.5)


def cuda_lattice_boltzmann(f: Array, omega: Array) -> Array:
    ex, ey = np.array([0, 1, 0, -1, 0, 1, -1, -1, 1]), np.array([0, 0, 1, 0, -1, 1, 1, -1, -1])
    w = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)
    rho = f.sum(0)
    ux, uy = np.tensordot(ex, f, 1) / rho, np.tensordot(ey, f, 1) / rho
    along = ex[:, None, None] * ux + ey[:, None, None] * uy
    g = f - omega * (f - w[:, None, None] * rho * (1 + 3 * along + 4.5 * along**2 - 1.5 * (ux**2 + uy**2)))
    return np.stack([np.roll(g[q], (ey[q], ex[q]), axis=(0, 1)) for q in range(9)])


def cuda_cross_sections(energy: Array, table: Array, density: Array, at: Array) -> Array:
    return density @ np.stack([np.interp(at, energy, row) for row in table])


def cuda_fem_apply(u: Array, k: Array, nodes: Array) -> Array:
    r, local = np.zeros_like(u), u[nodes]
    mean = local.mean(1, keepdims=True)
    np.add.at(r, nodes, 3 * k[:, None] * (1 + mean**2) * (local - mean))
    return r


def cuda_softmax_rows(x: Array) -> Array:
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def cuda_prefix_product(x: Array) -> Array:
    return np.cumprod(x)


def cuda_in_place(state: Array, damping: Array, steps: Array) -> Array:
    x, v = state[:, 0].copy(), state[:, 1].copy()
    for _ in range(int(steps)):
        v += 0.05 * (-np.sin(x) - damping * v * np.abs(v))
        x += 0.05 * v
    return np.stack([x, v], axis=1)


def cuda_filter(x: Array) -> Array:
    padded = np.pad(x, 2, mode="edge")
    taps = np.array([0.05, 0.25, 0.4, 0.25, 0.05])
    return np.convolve(padded**2 + 0.1 * np.sin(padded), taps, mode="valid")


def cuda_ray_march(blobs: Array, rows: int, cols: int) -> Array:
    y, x, z = np.meshgrid(
        (np.arange(rows) + 0.5) / rows, (np.arange(cols) + 0.5) / cols, (np.arange(12) + 0.5) / 12, indexing="ij"
    )
    squared = sum((axis[..., None] - blobs[:, i]) ** 2 for i, axis in enumerate((x, y, z)))
    return np.exp(-0.4 * np.exp(-squared / blobs[:, 3] ** 2).sum((-1, -2)))


def cuda_single_precision(x: Array, bias: Array) -> Array:
    v = x + np.resize(bias, len(x))
    gate = 1 / (1 + np.exp(-v))
    return v * gate / np.sqrt(1 + v**2) + np.clip(0.1 * gate, 0, 1)


def cuda_neighbours(u: Array, v: Array, speed: Array) -> tuple[Array, Array]:
    for _ in range(5):
        v = v + speed * (np.roll(u, 1) - 2 * u + np.roll(u, -1)) - 0.05 * u**3
        u = u + 0.5 * v
    return u, v
