"""Every program of the conformance table through NumPy: values, both modes against finite differences, what must not change."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from ffgrad.errors import DifferentiationError
from ffgrad.numpy import Enzyme, enzyme
from support.loader import Case, load_cases

CASES = list(load_cases())
MAY_REFUSE = {"fallback", "refused"}
every_case = pytest.mark.parametrize("case", CASES, ids=str)


@cache
def opened(name: str) -> Enzyme:
    """Open a case once a session; what other front ends built is found in the cache."""
    (case,) = load_cases(names=[name])
    return enzyme(case.source, case.function, case.signature, **case.options)  # type: ignore[arg-type]


def as_tuple(outputs: object) -> tuple[np.ndarray, ...]:
    """Return one output or several as a tuple."""
    return outputs if isinstance(outputs, tuple) else (outputs,)  # type: ignore[return-value]


def read_only(case: Case, seed: int = 0) -> tuple[np.ndarray, ...]:
    """Draw the inputs as arrays that nobody may write to."""
    arrays = tuple(case.make_inputs(seed))
    for array in arrays:
        array.flags.writeable = False
    return arrays


def weights(outputs: tuple[np.ndarray, ...], rng: np.random.Generator) -> tuple[np.ndarray | None, ...]:
    """Draw a cotangent for each floating-point output."""
    return tuple(
        np.asarray(rng.standard_normal(np.shape(y)), dtype=y.dtype) if y.dtype.kind == "f" else None for y in outputs
    )


def dot(left: tuple[np.ndarray | None, ...], right: tuple[np.ndarray | None, ...]) -> float:
    """Inner product over all arrays that are on both sides, in double precision."""
    pairs = [(a, b) for a, b in zip(left, right, strict=True) if a is not None and b is not None]
    return sum(float(np.sum(np.asarray(a, np.float64) * np.asarray(b, np.float64))) for a, b in pairs)


@every_case
def test_values_agree_with_the_reference(case: Case) -> None:
    """Outputs against NumPy itself, from inputs that are read-only."""
    outputs = as_tuple(opened(case.name)(*read_only(case)))
    expected = case.expected(case.make_inputs())
    assert len(outputs) == len(expected)
    for output, value in zip(outputs, expected, strict=True):
        assert output.dtype == value.dtype or output.dtype.kind != "f"
        assert np.shape(output) == value.shape
        np.testing.assert_allclose(output, value, rtol=case.tolerance.primal, atol=case.tolerance.primal)


@every_case
def test_both_modes_agree_with_finite_differences(case: Case) -> None:
    """<v, J t> from forward mode, <J^T v, t> from reverse mode, and central differences of <v, f>, one random direction."""
    f, inputs, rng = opened(case.name), read_only(case, seed=1), np.random.default_rng(0)
    active = [i for i, item in enumerate(case.inputs) if item.differentiable]
    tangents = tuple(
        np.asarray(rng.standard_normal(x.shape), dtype=x.dtype) if i in active else None for i, x in enumerate(inputs)
    )
    before = [x.tobytes() for x in inputs]
    try:
        outputs, pullback = f.vjp(*inputs)
        v = weights(as_tuple(outputs), rng)
        gradients = pullback(v)
        _, directional = f.jvp(inputs, tangents)
    except DifferentiationError:
        assert case.tags & MAY_REFUSE
        return
    forward, reverse = dot(v, as_tuple(directional)), dot(gradients, tangents)
    scale = max(
        1.0, sum(float(np.sum(np.abs(g * t))) for g, t in zip(gradients, tangents, strict=True) if t is not None)
    )
    assert abs(forward - reverse) <= case.tolerance.identity * scale

    def moved(h: float) -> float:
        at = tuple(
            x if t is None else np.asarray(x + h * t, dtype=x.dtype) for x, t in zip(inputs, tangents, strict=True)
        )
        return dot(v, as_tuple(f(*at)))

    step = case.tolerance.step
    numerical = (moved(step) - moved(-step)) / (2 * step)
    assert abs(forward - numerical) <= case.tolerance.gradient * max(1.0, abs(numerical), scale)
    assert [x.tobytes() for x in inputs] == before
