"""The table of derivatives that PyTorch, TensorFlow and JAX register their rules from, against formulas of one small function."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from ffgrad._closure import ARGUMENTS, FORWARD, GRADIENTS, NEW, REVERSE, Table, rule

ORDER = {"primal": 0, "vjp": 1, "jvp": 1, "hvp": 2, "jvp2": 2}
PAIRS = [(operation, argument) for operation in ARGUMENTS for argument in ("inputs", *ARGUMENTS[operation])]

# f(x) = A x + B(x, x) + C(x, x, x), from two numbers to three; B and C are symmetric in x.
_NUMBERS = np.random.default_rng(7)
A = _NUMBERS.standard_normal((3, 2))
B = _NUMBERS.standard_normal((3, 2, 2))
B = B + B.transpose(0, 2, 1)
C = sum(_NUMBERS.standard_normal(3)[:, None, None, None] * np.einsum("i,j,k->ijk", *[v] * 3) for v in np.eye(2) + 0.3)


def jacobian(x: np.ndarray) -> np.ndarray:
    """Outputs by inputs."""
    return A + 2 * np.einsum("oij,j->oi", B, x) + 3 * np.einsum("oijk,j,k->oi", C, x, x)


def curvature(x: np.ndarray) -> np.ndarray:
    """Outputs by inputs by inputs."""
    return 2 * B + 6 * np.einsum("oijk,k->oij", C, x)


OPERATIONS: dict[str, Any] = {
    "primal": lambda x: A @ x + np.einsum("oij,i,j->o", B, x, x) + np.einsum("oijk,i,j,k->o", C, x, x, x),
    "vjp": lambda x, v: jacobian(x).T @ v,
    "jvp": lambda x, t: jacobian(x) @ t,
    "hvp": lambda x, v, t: np.einsum("oij,o,j->i", curvature(x), v, t),
    "jvp2": lambda x, t, s: np.einsum("oij,i,j->o", curvature(x), t, s),
}


def drawn(operation: str) -> dict[str, np.ndarray]:
    """Return values for the inputs and the other arguments of an operation."""
    size = {"cotangents": 3}
    return {name: _NUMBERS.standard_normal(size.get(name, 2)) for name in ("inputs", *ARGUMENTS[operation])}


def by(table: Table, operation: str, argument: str, given: dict[str, np.ndarray], new: np.ndarray) -> np.ndarray:
    """Call what the table names."""
    found = table[operation][argument]
    assert found is not None
    passed = [new if source == NEW else given[source] for source in found.arguments]
    result: np.ndarray = OPERATIONS[found.operation](given["inputs"], *passed)
    return result


@pytest.mark.parametrize("table", [FORWARD, REVERSE], ids=["forward", "reverse"])
def test_third_order_is_refused_and_nothing_else(table: Table) -> None:
    """In x the order rises by one, in every other argument it stays; a rule exists where it is at most two."""
    assert [(operation, argument) for operation in table for argument in table[operation]] == PAIRS
    for operation, argument in PAIRS:
        order = ORDER[operation] + (argument == "inputs")
        found = table[operation][argument]
        assert (found is None) == (order > 2), (operation, argument)
        if found is not None:
            assert ORDER[found.operation] == order, (operation, argument)
            assert len(found.arguments) == len(ARGUMENTS[found.operation]) and found.arguments.count(NEW) == 1


def test_an_operation_that_a_front_end_has_not_is_refused() -> None:
    """TensorFlow has no ``jvp2``; backward of PyTorch does not call it."""
    has = ("vjp", "jvp", "hvp")
    refused = [pair for pair in PAIRS if rule(REVERSE, *pair, has) is None]
    assert refused == [("hvp", "inputs"), ("hvp", "cotangents"), ("jvp2", "inputs")]
    assert rule(REVERSE, "hvp", "cotangents") == REVERSE["hvp"]["cotangents"]


@pytest.mark.parametrize(("operation", "argument"), PAIRS)
def test_rules_are_derivatives(operation: str, argument: str) -> None:
    """Forward against central differences; reverse against forward, by the dot product."""
    if FORWARD[operation][argument] is None:
        return
    given = drawn(operation)
    along, step = _NUMBERS.standard_normal(given[argument].shape), 1e-5
    ends = [
        OPERATIONS[operation](*{**given, argument: given[argument] + side * step * along}.values()) for side in (1, -1)
    ]
    change = by(FORWARD, operation, argument, given, along)
    np.testing.assert_allclose(change, (ends[0] - ends[1]) / (2 * step), rtol=1e-7, atol=1e-7)
    assert change.shape == ((2,) if operation in GRADIENTS else (3,))
    arriving = _NUMBERS.standard_normal(change.shape)
    pulled = by(REVERSE, operation, argument, given, arriving)
    np.testing.assert_allclose(change @ arriving, along @ pulled, rtol=1e-12)
