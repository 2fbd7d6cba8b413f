"""What the programs of ``tests/cases/exceptions`` compute, written again in NumPy: see :mod:`reference`."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def caught_number(x: Array) -> Array:
    places = np.arange(1, len(x) + 1)
    return np.where(x.real > 0.5, (x**2 - 0.25) * places, np.where(x.real < -0.5, x**3 + x, x + x**2))


def caught_message(x: Array) -> Array:
    total, result = 1.0, 0.0
    for v in x:
        inside = total + v
        total = inside - 0.5 * v * v
        if v < -0.6:
            result += v * total
        elif v < -0.2:
            result += 3 * v
        elif v > 0.7:
            result -= v**3
        else:
            result += v * v * inside
    return result + total


def rethrown(x: Array) -> Array:
    result, seen = 0.0, 0.0
    for v in x:
        if abs(v) <= 0.4:
            result += v * v
            continue
        seen += v
        result += 1 - v if v > 0.8 else (3 if v > 0 else 2) * v * seen
    return result + seen * seen


def retried(x: Array) -> Array:
    result = 0.0
    for v in x:
        step = 0.5
        for _ in range(6):
            if step * abs(v) <= 0.15:
                result += (1 + step * v) ** round(1 / step)
                break
            step *= 0.5
        root = next(r.real for r in np.roots([1, 0, -1, -(v + 2)]) if abs(r.imag) < 1e-9)
        result += root if _newton_arrives(v) else 2 * root
    return result


def _newton_arrives(v: float) -> bool:
    x = 0.55 if v < 0 else 1.5
    for _ in range(40):
        slope = 3 * x * x - 1
        if abs(slope) < 0.3:
            return False
        x, before = x - (x**3 - x - v - 2) / slope, x
        if abs(x - before) < 1e-13:
            return True
    return False


def library_throws(x: Array) -> Array:
    result = 0.0
    numbers = (1.5, None, -2.0)
    for i, v in enumerate(x):
        result += 2 * v if v > 0.3 else v * v
        result += v * v * (i + 1) if i % 2 == 0 and i < 3 else v
        number = numbers[i % 3]
        result += -v if v <= 0 else 0.25 * v * v if number is None else v**3 * number
    return result


def error_path(x: Array) -> Array:
    return np.sum(np.log(x + 5) * x)
