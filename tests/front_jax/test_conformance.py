"""Programs of the conformance table in JAX: values, derivatives of first and second order, batches, eagerly and compiled."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from ffgrad import DifferentiationError
from ffgrad.jax import Enzyme, enzyme
from jax.test_util import check_grads
from support.loader import Case, load_cases

# Every second one, or all with FFGRAD_FULL=1: each compiles several derivatives here. PyTorch and NumPy check all.
CASES = list(load_cases())[:: 1 if os.environ.get("FFGRAD_FULL") else 2]
MAY_REFUSE = {"fallback", "refused"}
# Kernels with shared memory have no second derivatives, and some custom derivatives call what has none itself.
MAY_REFUSE_TWICE = MAY_REFUSE | {"first-order", "cuda"}
# The second derivatives of these are not finite, and are given with a warning: squares of the smallest numbers.
ONCE = {"small-numbers"}

# What passed, and what was refused, by order; conftest.py prints both after the run.
checked: set[str] = set()
refused: dict[int, set[str]] = {1: set(), 2: set()}
verdicts: dict[tuple[str, int], bool] = {}

every_case = pytest.mark.parametrize("case", CASES, ids=str)


@cache
def opened(name: str) -> Enzyme:
    """Open a case once a session, so that its tests share one build."""
    (case,) = load_cases(names=[name])
    return enzyme(case.source, case.function, case.signature, **case.options)  # type: ignore[arg-type]


def arrays(case: Case, seed: int = 0) -> list[jax.Array]:
    """Draw the inputs."""
    return [jnp.asarray(value) for value in case.make_inputs(seed)]


def active(case: Case) -> list[int]:
    """Return the positions of the inputs that have a gradient."""
    return [i for i, item in enumerate(case.inputs) if item.differentiable]


def as_tuple(outputs: Any) -> tuple[jax.Array, ...]:
    """Return outputs as a tuple."""
    return outputs if isinstance(outputs, tuple) else (outputs,)


def of_active(case: Case, inputs: Sequence[jax.Array]) -> Callable[..., tuple[jax.Array, ...]]:
    """Return the floating-point outputs as a function of the inputs that have a gradient."""
    f, positions = opened(case.name), active(case)

    def function(*moved: jax.Array) -> tuple[jax.Array, ...]:
        whole = list(inputs)
        for i, value in zip(positions, moved, strict=True):
            whole[i] = value
        return tuple(y for y in as_tuple(f(*whole)) if jnp.issubdtype(y.dtype, jnp.floating))

    return function


def is_refused(case: Case, order: int) -> bool:
    """Whether this derivative may be refused and is; the reasons must then be those a user needs."""
    # JAX compiles a derivative for each function that it is taken of: once is enough.
    if order == 2 and "slow-twice" in case.tags:
        return True
    known = verdicts.get((case.name, order))
    if known is None:
        known = verdicts[case.name, order] = _refuses(case, order)
    return known


def _refuses(case: Case, order: int) -> bool:
    inputs = arrays(case)
    f = of_active(case, inputs)
    moved = [inputs[i] for i in active(case)]

    def loss(*moved: jax.Array) -> jax.Array:
        return sum((jnp.sum(y) for y in f(*moved)), jnp.zeros(()))

    try:
        if order == 1:
            jax.block_until_ready(jax.grad(loss)(*moved))
        else:
            twice = jax.jvp(lambda *m: jax.jvp(f, m, m)[1], moved, moved)
            jax.block_until_ready((twice, jax.grad(lambda *m: jnp.sum(jax.grad(loss)(*m)))(*moved)))
    except (DifferentiationError, jax.errors.JaxRuntimeError) as error:
        if not case.tags & (MAY_REFUSE if order == 1 else MAY_REFUSE_TWICE):
            raise
        assert "second derivatives" in str(error) or f"`{case.function}`" in str(error)
        if "fallback" in case.tags and order == 1:
            pairs = re.findall(r"reverse mode gives (\S+), forward mode (\S+),", str(error))
            assert pairs, f"the numbers are missing: {error}"
            assert all(float(reverse) != float(forward) for reverse, forward in pairs)
        refused[order].add(case.name)
        return True
    return False


@every_case
def test_values_agree_with_the_reference(case: Case) -> None:
    """Outputs against NumPy, eagerly and compiled; a function without a gradient still has values."""
    expected = case.expected(case.make_inputs())
    for f in (opened(case.name), jax.jit(opened(case.name).apply)):
        outputs = as_tuple(f(*arrays(case)))
        assert len(outputs) == len(expected)
        for output, value in zip(outputs, expected, strict=True):
            assert output.shape == value.shape
            np.testing.assert_allclose(output, value, rtol=case.tolerance.primal, atol=case.tolerance.primal)


@every_case
def test_derivatives_pass_check_grads(case: Case) -> None:
    """First and second order, forward and reverse mode over each other, against central differences by JAX itself."""
    if is_refused(case, 1):
        return
    once = case.tags & ONCE or (case.tags & MAY_REFUSE_TWICE and is_refused(case, 2))
    order = 1 if once else 2
    inputs = arrays(case)
    moved = [inputs[i] for i in active(case)]
    tolerance = 5 * case.tolerance.gradient
    eps = case.tolerance.step
    check_grads(of_active(case, inputs), moved, order, ("fwd", "rev"), atol=tolerance, rtol=tolerance, eps=eps)
    if order == 2:
        checked.add(case.name)


@every_case
def test_a_batch_is_the_same_as_a_loop(case: Case) -> None:
    """Values, gradients and directional derivatives; of one input shared by the batch too."""
    if is_refused(case, 1):
        return
    draws = [arrays(case, seed) for seed in (0, 1, 2)]
    batch = [jnp.stack(values) for values in zip(*draws, strict=True)]
    f, positions = opened(case.name).apply, active(case)
    single = any(x.dtype == jnp.float32 for x in [*batch, *as_tuple(f(*draws[0]))])
    tolerance = 2e-5 if single else 1e-11
    close = {"rtol": tolerance, "atol": tolerance}

    def both(*inputs: jax.Array) -> Any:
        moved = [inputs[i] for i in positions]
        outputs, pull = jax.vjp(of_active(case, inputs), *moved)
        return f(*inputs), pull(outputs), jax.jvp(of_active(case, inputs), moved, moved)[1]

    looped = [both(*draw) for draw in draws]
    aligned = jax.tree.leaves(jax.vmap(both)(*batch)), zip(*map(jax.tree.leaves, looped), strict=True)
    for one, many in zip(*aligned, strict=True):
        np.testing.assert_allclose(one, np.stack(many), **close)

    # All but the first shared; gradients of what is shared add up.
    axes = [0] + [None] * (len(batch) - 1)

    def total(by_loop: bool, *moved: jax.Array) -> jax.Array:
        whole = [batch[0], *draws[0][1:]]
        for i, value in zip(positions, moved, strict=True):
            whole[i] = value
        runs = [f(whole[0][k], *whole[1:]) for k in range(3)] if by_loop else jax.vmap(f, in_axes=axes)(*whole)
        return sum((jnp.sum(y**2) for y in jax.tree.leaves(runs) if y.dtype.kind == "f"), jnp.zeros(()))

    moved = [batch[0] if i == 0 else draws[0][i] for i in positions]
    everything = tuple(range(1, 1 + len(moved)))
    gradients = [jax.grad(total, everything)(by_loop, *moved) for by_loop in (False, True)]
    for one, other in zip(*gradients, strict=True):
        np.testing.assert_allclose(one, other, **close)


@every_case
def test_a_tangent_may_be_the_input_itself(case: Case) -> None:
    """One array as input and as direction: what a copy of it gives."""
    if is_refused(case, 1):
        return
    inputs = arrays(case)
    moved = tuple(inputs[i] for i in active(case))
    apart = tuple(jnp.array(x, copy=True) for x in moved)
    f = of_active(case, inputs)
    results = [jax.jvp(f, moved, along)[1] for along in (moved, apart)]
    for one, other in zip(*results, strict=True):
        # To rounding: OpenMP adds in any order.
        np.testing.assert_allclose(one, other, rtol=100 * jnp.finfo(one.dtype).eps, atol=100 * jnp.finfo(one.dtype).eps)


@every_case
def test_compiled_and_eager_derivatives_are_the_same(case: Case) -> None:
    """And neither changes anything of the caller's."""
    if is_refused(case, 1):
        return
    inputs = arrays(case)
    before = [np.asarray(value).tobytes() for value in inputs]
    positions = active(case)

    def derivatives(*inputs: jax.Array) -> Any:
        moved = [inputs[i] for i in positions]
        outputs, pull = jax.vjp(of_active(case, inputs), *moved)
        return pull(outputs), jax.jvp(of_active(case, inputs), moved, moved)

    eager, compiled = derivatives(*inputs), jax.jit(derivatives)(*inputs)
    for one, other in zip(jax.tree.leaves(eager), jax.tree.leaves(compiled), strict=True):
        # To rounding: OpenMP adds in any order.
        np.testing.assert_allclose(one, other, rtol=100 * jnp.finfo(one.dtype).eps, atol=100 * jnp.finfo(one.dtype).eps)
    assert [np.asarray(value).tobytes() for value in inputs] == before


def test_at_least_sixty_programs_pass_to_second_order(request: pytest.FixtureRequest) -> None:
    """Of those in the table; conftest.py prints the count."""
    ran = [item for item in request.session.items if item.name.startswith("test_derivatives_pass_check_grads[")]
    if len(ran) < len(CASES):
        pytest.skip("only a part of the table was selected")
    assert len(checked) >= 60
