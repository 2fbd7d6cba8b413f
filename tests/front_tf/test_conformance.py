"""Every program of the conformance table in TensorFlow, eagerly and in graphs: values, gradients, forward mode."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from ffgrad.tf import Enzyme, enzyme
from support.loader import Case, load_cases

CASES = list(load_cases())
SINGLE = [case for case in CASES if any(item.dtype == "float32" for item in case.inputs)]
EXACT = [case for case in CASES if case not in SINGLE]
MAY_REFUSE = {"fallback", "refused"}
MODES = ["eager", "graph"]

# What passed, by name and mode, and what was refused; conftest.py prints both after the run.
checked: set[tuple[str, str]] = set()
refused: set[str] = set()

every_case = pytest.mark.parametrize("case", CASES, ids=str)
every_exact_case = pytest.mark.parametrize("case", EXACT, ids=str)
every_single_case = pytest.mark.parametrize("case", SINGLE, ids=str)


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run functions as they are written, or as graphs."""
    tf.config.run_functions_eagerly(request.param == "eager")
    yield request.param
    tf.config.run_functions_eagerly(False)


@cache
def opened(name: str) -> Enzyme:
    """Open a case once a session, so that its tests share one build."""
    (case,) = load_cases(names=[name])
    return enzyme(case.source, case.function, case.signature, **case.options)  # type: ignore[arg-type]


@cache
def in_graph(name: str) -> Callable[..., Any]:
    """Return the case in a ``tf.function``."""
    return tf.function(opened(name).apply)


def called(case: Case, inputs: Sequence[tf.Tensor]) -> tuple[tf.Tensor, ...]:
    """Call the operation, in a graph unless functions run eagerly; outputs as a tuple."""
    f = opened(case.name).apply if tf.config.functions_run_eagerly() else in_graph(case.name)
    outputs = f(*inputs)
    return outputs if isinstance(outputs, tuple) else (outputs,)


def floats(outputs: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    """Return the outputs that carry derivatives."""
    return [y for y in outputs if y.dtype.is_floating]


def tensors(case: Case, seed: int = 0) -> list[tf.Tensor]:
    """Draw the inputs."""
    return [tf.constant(value) for value in case.make_inputs(seed)]


def active(case: Case) -> list[int]:
    """Return the positions of the inputs that have a gradient."""
    return [i for i, item in enumerate(case.inputs) if item.differentiable]


def random_like(values: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    """Return normally distributed values of the same shapes and types."""
    return [tf.random.normal(tf.shape(v), dtype=v.dtype) for v in values]


def dot(left: Sequence[tf.Tensor], right: Sequence[tf.Tensor]) -> float:
    """Inner product over all arrays, in double precision."""
    return sum(float(np.vdot(np.float64(a), np.float64(b))) for a, b in zip(left, right, strict=True))


def has_gradient(case: Case) -> bool:
    """Whether the case is differentiated; where it may be refused and is, the reasons must be those a user needs."""
    inputs = tensors(case)
    try:
        pulled(case, inputs, None)
    except tf.errors.UnimplementedError as error:
        if not case.tags & MAY_REFUSE:
            raise
        assert f"`{case.function}`" in error.message
        if "fallback" in case.tags:
            pairs = re.findall(r"reverse mode gives (\S+), forward mode (\S+),", error.message)
            assert pairs, f"the numbers are missing: {error.message}"
            assert all(float(reverse) != float(forward) for reverse, forward in pairs)
        refused.add(case.name)
        return False
    return True


def pulled(
    case: Case, inputs: Sequence[tf.Tensor], cotangents: list[tf.Tensor] | None
) -> tuple[list[tf.Tensor], list[tf.Tensor]]:
    """Return the floating-point outputs, and J^T v for the inputs that have a gradient."""
    watched = [inputs[i] for i in active(case)]
    with tf.GradientTape() as tape:
        tape.watch(watched)
        outputs = floats(called(case, inputs))
    return outputs, tape.gradient(outputs, watched, cotangents, unconnected_gradients="zero")


def pushed(case: Case, inputs: Sequence[tf.Tensor], tangents: list[tf.Tensor]) -> list[tf.Tensor]:
    """Return J t."""
    with tf.autodiff.ForwardAccumulator([inputs[i] for i in active(case)], tangents) as accumulator:
        outputs = floats(called(case, inputs))
    return accumulator.jvp(outputs, unconnected_gradients="zero")


@every_case
def test_values_agree_with_the_reference(case: Case, mode: str) -> None:
    """Outputs against NumPy; a function without a gradient still has values."""
    outputs = called(case, tensors(case))
    expected = case.expected(case.make_inputs())
    assert len(outputs) == len(expected)
    for output, value in zip(outputs, expected, strict=True):
        assert tuple(output.shape) == value.shape
        np.testing.assert_allclose(output.numpy(), value, rtol=case.tolerance.primal, atol=case.tolerance.primal)


@every_exact_case
def test_gradients_pass_compute_gradient(case: Case, mode: str) -> None:
    """The Jacobian against central differences, by TensorFlow itself."""
    if not has_gradient(case):
        return
    inputs = tensors(case)
    positions = active(case)

    def flat(*moved: tf.Tensor) -> tf.Tensor:
        whole = list(inputs)
        for i, value in zip(positions, moved, strict=True):
            whole[i] = value
        return tf.concat([tf.reshape(y, [-1]) for y in floats(called(case, whole))], axis=0)

    exact, numerical = tf.test.compute_gradient(flat, [inputs[i] for i in positions], delta=case.tolerance.step)
    tolerance = case.tolerance.gradient
    for i, e, n in zip(positions, exact, numerical, strict=True):
        np.testing.assert_allclose(e, n, rtol=tolerance, atol=tolerance, err_msg=case.inputs[i].name)
    checked.add((case.name, mode))


@every_case
def test_forward_and_reverse_mode_are_adjoint(case: Case, mode: str) -> None:
    """<v, J t> = <J^T v, t> for random v and t, forward mode by TensorFlow's accumulator."""
    if not has_gradient(case):
        return
    inputs = tensors(case, seed=1)
    cotangents = random_like(floats(called(case, inputs)))
    tangents = random_like([inputs[i] for i in active(case)])
    _, gradients = pulled(case, inputs, cotangents)
    forward = dot(cotangents, pushed(case, inputs, tangents))
    reverse = dot(gradients, tangents)
    parts = [float(np.abs(np.float64(a) * np.float64(b)).sum()) for a, b in zip(gradients, tangents, strict=True)]
    assert abs(forward - reverse) <= case.tolerance.identity * max(1.0, *parts)


@every_single_case
def test_single_precision_gradients_agree_with_finite_differences(case: Case, mode: str) -> None:
    """One random direction an input, central differences of the outputs summed with random weights."""
    inputs = tensors(case)
    weights = random_like(floats(called(case, inputs)))
    _, gradients = pulled(case, inputs, weights)

    def weighted(i: int, step: tf.Tensor) -> float:
        moved = [x + step if j == i else x for j, x in enumerate(inputs)]
        return dot(weights, floats(called(case, moved)))

    for i, gradient in zip(active(case), gradients, strict=True):
        assert gradient.dtype == inputs[i].dtype
        (direction,) = random_like([inputs[i]])
        step = tf.cast(case.tolerance.step, direction.dtype) * direction
        numerical = (weighted(i, step) - weighted(i, -step)) / (2 * case.tolerance.step)
        exact = dot([gradient], [direction])
        assert abs(exact - numerical) <= case.tolerance.gradient * max(1.0, abs(numerical)), case.inputs[i].name


@every_case
def test_nothing_of_the_callers_is_changed(case: Case, mode: str) -> None:
    """Inputs, outputs, cotangents and tangents have the same bits after all calls as before."""
    if not has_gradient(case):
        return
    inputs = tensors(case)
    outputs = floats(called(case, inputs))
    cotangents = random_like(outputs)
    tangents = random_like([inputs[i] for i in active(case)])
    everything = [*inputs, *outputs, *cotangents, *tangents]
    before = [value.numpy().tobytes() for value in everything]
    pulled(case, inputs, cotangents)
    pushed(case, inputs, tangents)
    assert [value.numpy().tobytes() for value in everything] == before


@every_case
def test_a_graph_knows_the_shapes_of_the_outputs(case: Case) -> None:
    """From known input shapes all output shapes follow; from unknown ones none is claimed that is wrong."""
    inputs = tensors(case)
    known = tf.function(opened(case.name).apply).get_concrete_function(*inputs)
    ranks = [tf.TensorSpec([None] * x.shape.rank, x.dtype) for x in inputs]
    open_dims = tf.function(opened(case.name).apply, input_signature=ranks)
    nothing = [tf.TensorSpec(None, x.dtype) for x in inputs]
    open_ranks = tf.function(opened(case.name).apply, input_signature=nothing)

    shapes = tf.nest.flatten(known.output_shapes)
    for outputs in (known(*inputs), open_dims(*inputs), open_ranks(*inputs)):
        assert [y.shape for y in tf.nest.flatten(outputs)] == shapes
    for graph in (open_dims, open_ranks):
        claimed = tf.nest.flatten(graph.get_concrete_function().output_shapes)
        assert all(a.is_compatible_with(b) for a, b in zip(claimed, shapes, strict=True))


def test_at_least_twenty_programs_pass_in_each_mode(request: pytest.FixtureRequest) -> None:
    """The count that the project promises; conftest.py prints it."""
    ran = [item for item in request.session.items if item.name.startswith("test_gradients_pass_compute_gradient[")]
    if len(ran) < len(EXACT) * len(MODES):
        pytest.skip("only a part of the table was selected")
    for mode in MODES:
        assert sum(1 for _, m in checked if m == mode) >= 20
