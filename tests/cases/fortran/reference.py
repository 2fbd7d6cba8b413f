"""What each program of ``cases.toml`` beside this file computes, written again in NumPy; see ``../reference.py``."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def saxpy_like(a: Array, x: Array, b: Array, y: Array) -> Array:
    return a * x + b * np.square(y)


def module_constants(length: Array, amplitude: Array) -> Array:
    series = np.polynomial.polynomial.polyval(amplitude, [1, 0, 1 / 16, 0, 11 / 3072])
    return 2 * 3.14159265358979 * np.sqrt(length / 9.81) * series


def assumed_shape(u: Array, w: Array) -> Array:
    v = u.copy()
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            v[i, j] = w @ [u[i, j], u[i - 1, j] + u[i + 1, j], u[i, j - 1] * u[i, j + 1]]
    return v


def bind_c(t: Array, amplitude: Array, rate: Array, squared: Array) -> Array:
    return (amplitude * np.exp(-rate * t)) ** (2 if squared else 1)


def array_functions(a: Array, x: Array, b: Array) -> Array:
    r = a @ x - b
    return 0.5 * r @ r + (r @ a) @ x / len(x) + np.linalg.norm(a) ** 2 + np.prod(1 + 0.1 * x) + b.max() - x.min()


def column_major(a: Array, angle: Array) -> Array:
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return np.vstack([turn @ a[:2], a[2] ** 2 * np.arange(1, a.shape[1] + 1)])
