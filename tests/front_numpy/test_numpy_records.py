"""Vectors of structures that mix integers and numbers, changed by the standard library: adjoints move along with the structures."""

from __future__ import annotations

import numpy as np
from ffgrad.numpy import enzyme
from support.loader import FOLDER


def test_sorted_records_have_the_gradient_of_their_numbers() -> None:
    """At later values too, which decide where a structure goes."""
    op = enzyme(FOLDER / "enzyme_bugs" / "records.cpp", "sorted_records", "x[n] -> y[n]")
    rng = np.random.default_rng(3)
    for n in (7, 7, 5, 7, 20, 7):
        x, cotangent = rng.standard_normal(n), rng.standard_normal(n)
        at = np.argsort(x)
        y, pullback = op.vjp(x)
        np.testing.assert_allclose(y, x[at] ** 3 + at, rtol=1e-14)
        expected = np.zeros(n)
        expected[at] = cotangent * 3 * x[at] ** 2
        np.testing.assert_allclose(pullback(cotangent)[0], expected, rtol=1e-12)


def test_sorted_pairs_have_the_gradient_of_their_numbers() -> None:
    """A pair has a base class, so clang says nothing about the members that a copy moves."""
    op = enzyme(FOLDER / "enzyme_bugs" / "record_members.cpp", "sorted_pairs", "x[n] -> y[n]")
    rng = np.random.default_rng(4)
    for n in (7, 7, 5, 20, 7):
        x, cotangent = rng.standard_normal(n), rng.standard_normal(n)
        at = np.argsort(x * x)
        y, pullback = op.vjp(x)
        np.testing.assert_allclose(y, x[at] ** 3, rtol=1e-13)
        expected = np.zeros(n)
        expected[at] = cotangent * 3 * x[at] ** 2
        np.testing.assert_allclose(pullback(cotangent)[0], expected, rtol=1e-12, atol=1e-14)
