"""Eigen's products, solvers and factorisations give the same numbers with ffgrad's loops in place of its kernels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from ffgrad.numpy import enzyme
from support.real_programs import load_programs

EIGEN = next(p.library for p in load_programs() if p.library.name == "Eigen")
SOURCE = Path(__file__).with_name("eigen_loops.cpp")


def test_columns_in_memory_have_the_results_of_numpy() -> None:
    _compare("by_columns")


def test_rows_in_memory_have_the_results_of_numpy() -> None:
    _compare("by_rows")


def _compare(order: str) -> None:
    if missing := EIGEN.missing():
        pytest.skip(missing)
    f = enzyme(SOURCE, order, "a[n,n], b[n,m] -> y[8,n,m]", **EIGEN.options())
    for n, m in [(1, 2), (3, 2), (40, 5)]:
        rng = np.random.default_rng(n)
        a, b = rng.standard_normal((n, n)) / np.sqrt(n) + 2 * np.eye(n), rng.standard_normal((n, m))
        s = a @ a.T + np.eye(n)
        lower = np.tril(a, -1) + np.eye(n)
        upper = np.triu(a, 1) + np.eye(n)
        vector = np.zeros((n, m))
        vector[:, 0] = np.linalg.solve(upper.T, b[:, 0]) + s @ b[:, m - 1]
        wanted = [
            2 * a.T @ b - 3 * a @ b + a.T @ b[:, ::-1],
            np.linalg.solve(s, b),
            np.linalg.solve(a, b),
            np.linalg.solve(a, b),
            np.linalg.solve(lower, b),
            np.linalg.solve(np.triu(s).T, b),
            vector,
            np.linalg.solve(s, b),
        ]
        for got, want in zip(np.asarray(f(a, b)), wanted, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9)
