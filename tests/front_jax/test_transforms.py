"""JAX's transformations and their compositions: order two in every mode, batches in batches, loops, checkpoints, types."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import ffgrad
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from ffgrad.jax import Enzyme
from jax.test_util import check_grads
from programs import CUBE, SCALED, SCALED_SIGNATURE, STEP, STEP_SIGNATURE
from support.fixtures import Compile

X = jnp.array([1.0, -2.0, 3.0])
W = jnp.array([0.5, 1.5, -1.0])


@pytest.fixture
def cube(compile_source: Compile) -> Enzyme:
    """y = x^3."""
    return compile_source(CUBE, "cube")


@pytest.fixture
def scaled(compile_source: Compile) -> Enzyme:
    """y = a x^power w^2."""
    return compile_source(SCALED, "scaled", SCALED_SIGNATURE)


@pytest.fixture
def step(compile_source: Compile) -> Enzyme:
    """A step of an oscillator."""
    return compile_source(STEP, "step", STEP_SIGNATURE)


def own_scaled(x: jax.Array, w: jax.Array, a: Any, power: Any) -> jax.Array:
    """The same in JAX."""
    return a * x**power * w**2


def own_step(u: jax.Array, k: Any, dt: Any) -> jax.Array:
    """The same in JAX."""
    return jnp.stack([u[0] + dt * u[1], u[1] + dt * (-k * u[0] - 0.1 * u[1] ** 2)])


def agree(one: Any, other: Any) -> None:
    """Leaf by leaf."""
    for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("outer, inner", list(itertools.product([jax.jacfwd, jax.jacrev], repeat=2)))
def test_every_composition_of_second_order_exists(
    scaled: Enzyme, outer: Callable[..., Any], inner: Callable[..., Any], compiled: bool
) -> None:
    """Mixed second derivatives of arrays and a scalar, forward and reverse mode over each other."""
    arguments = (0, 1, 2)
    second = outer(inner(lambda *args: scaled(*args, 3), arguments), arguments)
    expected = outer(inner(lambda *args: own_scaled(*args, 3), arguments), arguments)(X, W, 1.7)
    agree((jax.jit(second) if compiled else second)(X, W, 1.7), expected)


def test_the_hessian_and_its_products(cube: Enzyme) -> None:
    """jax.hessian, and a product without it."""
    agree(jax.hessian(lambda x: cube(x).sum())(X), jnp.diag(6 * X))
    agree(jax.jvp(jax.grad(lambda x: cube(x).sum()), (X,), (W,))[1], 6 * X * W)


def test_second_derivatives_in_the_cotangent_are_there(cube: Enzyme) -> None:
    """Of a gradient that is differentiated with respect to what was pulled back."""

    def pulled(x: jax.Array, v: jax.Array) -> jax.Array:
        return jax.vjp(cube.apply, x)[1](v)[0]

    check_grads(pulled, (X, W), order=1, modes=("fwd", "rev"))
    agree(jax.jacfwd(pulled, 1)(X, W), jnp.diag(3 * X**2))
    # Forward over reverse, and then reverse in the cotangent.
    agree(jax.grad(lambda v: jax.jvp(lambda x: pulled(x, v), (X,), (W,))[1].sum())(W), 6 * X * W)


@pytest.mark.parametrize("modes", list(itertools.product([jax.jacfwd, jax.jacrev], repeat=3)))
def test_third_derivatives_are_refused_while_tracing(cube: Enzyme, modes: Any) -> None:
    """With the function's name and what to do next; never a zero."""
    first, second, third = modes
    with pytest.raises(ffgrad.DifferentiationError, match="third derivatives of the foreign function `cube`") as error:
        first(second(third(cube.apply)))(X)
    assert error.value.code == "third-derivative"


def test_gradients_of_a_foreign_function_of_a_foreign_function(cube: Enzyme, scaled: Enzyme) -> None:
    """The chain rule, twice."""
    both = lambda x: jnp.sin(scaled(cube(x), W, 0.1, 2))  # noqa: E731
    own = lambda x: jnp.sin(own_scaled(x**3, W, 0.1, 2))  # noqa: E731
    agree(jax.jit(jax.jacrev(both))(X), jax.jacrev(own)(X))
    agree(jax.jit(jax.jacfwd(jax.jacrev(both)))(X), jax.jacfwd(jax.jacrev(own))(X))


# --- batches ------------------------------------------------------------------------------------------

AXES = [(*a, None) for a in itertools.product([0, None], repeat=3) if any(x is not None for x in a)] + [
    (0, None, None, 0)
]


@pytest.mark.parametrize("axes", AXES, ids=str)
def test_any_of_the_inputs_may_be_mapped(scaled: Enzyme, axes: tuple[int | None, ...]) -> None:
    """Values and all derivatives, beside the same function in JAX; an integer input too."""
    rng = np.random.default_rng(1)
    whole = [rng.uniform(0.5, 2, (4, 3)), rng.normal(size=(4, 3)), rng.normal(size=4), np.arange(1, 5, dtype=np.int32)]
    inputs = [jnp.asarray(v if axis == 0 else v[0]) for v, axis in zip(whole, axes, strict=True)]

    def derivatives(f: Callable[..., Any]) -> Any:
        mapped = jax.vmap(f, in_axes=axes)
        moved = inputs[:3]
        loss = lambda *m: jnp.sum(jnp.sin(mapped(*m, inputs[3])))  # noqa: E731
        hessian = jax.hessian(loss, (0, 1, 2))(*moved)
        each = jax.vmap(jax.jacrev(f, (0, 1, 2)), in_axes=axes)(*inputs)
        twice = jax.vmap(jax.jacfwd(jax.jacfwd(f, (0, 1, 2)), (0, 1, 2)), in_axes=axes)(*inputs)
        return mapped(*inputs), jax.grad(loss, (0, 1, 2))(*moved), hessian, each, twice

    agree(jax.jit(lambda: derivatives(scaled.apply))(), jax.jit(lambda: derivatives(own_scaled))())


@pytest.mark.parametrize("inner", [(0, None, None, None), (None, 0, None, None), (0, 0, None, None)], ids=str)
@pytest.mark.parametrize("outer", [(0, None, None, None), (None, 0, None, None), (None, None, 0, None)], ids=str)
def test_batches_of_batches(scaled: Enzyme, inner: Any, outer: Any) -> None:
    """Two levels, in all orders with derivatives; what is mapped on one level is shared on the other."""
    rng = np.random.default_rng(2)
    sizes = [(5,) * (o == 0) + (4,) * (i == 0) for o, i in zip(outer, inner, strict=True)]
    inputs = [
        jnp.asarray(rng.uniform(0.5, 2, (*size, *own))) for size, own in zip(sizes, [(3,), (3,), (), ()], strict=True)
    ]

    def derivatives(f: Callable[..., Any]) -> Any:
        g = lambda x, w, a: f(x, w, a, 2)  # noqa: E731
        twice = lambda h: jax.vmap(jax.vmap(h, inner[:3]), outer[:3])  # noqa: E731
        within = lambda *m: jnp.sum(jnp.sin(jax.vmap(g, inner[:3])(*m)))  # noqa: E731
        total = lambda *m: jnp.sum(jnp.sin(twice(g)(*m)))  # noqa: E731
        moved = inputs[:3]
        first = jax.vmap(jax.grad(within, (0, 1, 2)), outer[:3])(*moved)
        second = jax.vmap(jax.jacrev(jax.grad(within, (0, 1, 2)), (0, 1, 2)), outer[:3])(*moved)
        forward = jax.vmap(jax.jacfwd(jax.grad(within, (0, 1, 2)), (0, 1, 2)), outer[:3])(*moved)
        return (
            twice(g)(*moved),
            jax.grad(total, (0, 1, 2))(*moved),
            twice(jax.grad(lambda *m: g(*m).sum()))(*moved),
            first,
            second,
            forward,
        )

    agree(jax.jit(lambda: derivatives(scaled.apply))(), jax.jit(lambda: derivatives(own_scaled))())


def test_a_batch_is_one_call(cube: Enzyme) -> None:
    """In the program that XLA compiles, values and gradients alike."""
    xs = jnp.ones((7, 3))
    text = jax.jit(jax.vmap(jax.value_and_grad(lambda x: cube(x).sum()))).lower(xs).as_text()
    assert text.count("custom_call @ffgrad(") == 2 and "while" not in text


def test_an_axis_elsewhere_than_in_front(cube: Enzyme) -> None:
    """in_axes and out_axes."""
    xs = jnp.arange(12.0).reshape(3, 4)
    agree(jax.vmap(cube.apply, in_axes=1, out_axes=1)(xs), xs**3)


def test_an_empty_batch_has_no_results_and_no_gradient(scaled: Enzyme) -> None:
    """What is shared has the gradient zero."""
    none = jnp.zeros((0, 3))
    assert jax.vmap(lambda x: scaled(x, W, 1.0, 2))(none).shape == (0, 3)
    gradient = jax.grad(lambda w: jax.vmap(lambda x: scaled(x, w, 1.0, 2))(none).sum())(W)
    agree(gradient, jnp.zeros(3))


def test_threads_change_nothing(compile_source: Compile) -> None:
    """A batch on several threads, with a sum over it."""
    f = compile_source(SCALED, "scaled", SCALED_SIGNATURE, threads=3)
    xs = jnp.linspace(0.5, 2, 33).reshape(11, 3)
    loss = lambda f: jax.grad(lambda w: jax.vmap(lambda x: f(x, w, 1.0, 2))(xs).sum())(W)  # noqa: E731
    agree(loss(f), loss(own_scaled))


# --- control flow -------------------------------------------------------------------------------------


@pytest.mark.parametrize("remember", [lambda f: f, jax.checkpoint], ids=["plain", "checkpoint"])
def test_a_trajectory_by_scan(step: Enzyme, remember: Callable[..., Any]) -> None:
    """Values, gradients and Hessian of the end of a time loop, beside the same steps in JAX."""

    def end(step: Callable[..., Any], k: Any) -> jax.Array:
        body = remember(lambda u, dt: (step(u, k, dt), u[0]))
        u, path = jax.lax.scan(body, jnp.array([1.0, 0.0]), jnp.full(20, 0.1))
        return jnp.sum(u**2) + jnp.sum(path)

    for transform in (
        lambda f: f,
        jax.grad,
        jax.jacfwd,
        lambda f: jax.jacfwd(jax.grad(f)),
        lambda f: jax.grad(jax.grad(f)),
    ):
        agree(jax.jit(transform(lambda k: end(step, k)))(2.0), transform(lambda k: end(own_step, k))(2.0))


@pytest.mark.parametrize("mapped", [0, 1], ids=["outside", "inside"])
def test_a_map_over_trajectories_and_their_checkpoints(step: Enzyme, mapped: int) -> None:
    """vmap outside grad and inside it, of a scan whose steps are recomputed."""

    def end(step: Callable[..., Any], k: Any) -> jax.Array:
        body = jax.checkpoint(lambda u, dt: (step(u, k, dt), None))
        return jnp.sum(jax.lax.scan(body, jnp.array([1.0, 0.0]), jnp.full(5, 0.1))[0] ** 2)

    def gradients(step: Callable[..., Any], ks: Any) -> jax.Array:
        if mapped == 0:
            return jax.vmap(jax.grad(lambda k: end(step, k)))(ks)
        return jax.grad(lambda ks: jax.vmap(lambda k: end(step, k))(ks).sum())(ks)

    ks = jnp.array([0.5, 1.0, 2.0])
    agree(jax.jit(lambda ks: gradients(step, ks))(ks), gradients(own_step, ks))


def test_loops_and_branches(step: Enzyme, cube: Enzyme) -> None:
    """while_loop forwards, fori_loop, cond in both modes, map."""

    def settled(step: Callable[..., Any], k: Any) -> jax.Array:
        go = lambda state: state[0] < 10  # noqa: E731
        return jax.lax.while_loop(go, lambda s: (s[0] + 1, step(s[1], k, 0.1)), (0, jnp.array([1.0, 0.0])))[1]

    agree(jax.jit(jax.jacfwd(lambda k: settled(step, k)))(2.0), jax.jacfwd(lambda k: settled(own_step, k))(2.0))
    either = lambda x: jax.lax.cond(x[0] > 0, cube.apply, lambda x: 2 * x, x)  # noqa: E731
    agree(jax.jit(jax.jacrev(either))(X), jnp.diag(3 * X**2))
    agree(jax.jit(jax.jacfwd(either))(-X), 2 * jnp.eye(3))
    agree(jax.lax.map(cube.apply, jnp.stack([X, W])), jnp.stack([X, W]) ** 3)


def test_an_output_that_is_not_used_counts_as_zero(compile_source: Compile) -> None:
    """Of two outputs, one of them an integer."""
    source = "void f(const double* x, int n, double* y, int* c) { *c = 0;\n"
    source += "for (int i = 0; i < n; i++) { y[i] = x[i] * x[i]; *c += x[i] > 0; } }\n"
    f = compile_source(source, "f", "x[n] -> y[n], c")
    y, count = f(X)
    assert count.dtype == jnp.int32 and count == 2
    agree(jax.grad(lambda x: f(x)[0].sum() * f(x)[1])(X), 4 * X)
    (_, count), (dy, dcount) = jax.jvp(f.apply, (X,), (W,))
    agree(dy, 2 * X * W)
    assert dcount.dtype == jax.dtypes.float0


def test_const_inputs_have_the_gradient_zero(compile_source: Compile) -> None:
    """As the signature says."""
    source = "double loss(const double* x, const double* w, int n)\n"
    source += "{ double s = 0; for (int i = 0; i < n; i++) s += w[i] * x[i] * x[i]; return s; }\n"
    f = compile_source(source, "loss", "x[n], const w[n] -> return")
    # Large enough that the memory is not fresh, so that zeros must have been written.
    x, w = jnp.linspace(1.0, 2.0, 50_000), jnp.linspace(-1.0, 1.0, 50_000)
    for transform in (lambda f: f, jax.jit):
        for _ in range(3):
            gradient = transform(jax.grad(f.apply, (0, 1)))
            agree(gradient(x, w), (2 * w * x, jnp.zeros_like(w)))
            agree(jax.vmap(gradient)(jnp.stack([x, w]), jnp.stack([w, x]))[1], jnp.zeros((2, x.size)))
        curvature = transform(lambda x, w: jax.jvp(jax.grad(f.apply, (0, 1)), (x, w), (w, jnp.zeros_like(w)))[1])
        agree(curvature(x, w), (2 * w * w, jnp.zeros_like(w)))


# --- types, tracing, buffers --------------------------------------------------------------------------


def test_numbers_and_weak_types_take_the_parameters_type(compile_source: Compile) -> None:
    """Python numbers, NumPy arrays and what jit makes of numbers; a gradient for a number that has one."""
    source = (
        "void f(const float* x, float a, int k, int n, float* y) { for (int i = 0; i < n; i++) y[i] = a * x[i] * k; }\n"
    )
    f = compile_source(source, "f", "x[n], a, k -> y[n]")
    x = np.float32([1, 2, 3])
    for call in (f.apply, jax.jit(f.apply)):
        y = call(x, 0.5, 3)
        assert y.dtype == jnp.float32
        agree(y, 1.5 * x)
        agree(call(x, 2, 3), 6 * x)
    gradient = jax.grad(lambda a: f(x, a, 3).sum())(0.5)
    assert gradient == 18.0


def test_nothing_is_traced_twice(cube: Enzyme, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither for other numbers, nor for the same function opened again."""
    traced: list[int] = []
    inner = ffgrad._native.result_types
    monkeypatch.setattr(ffgrad._native, "result_types", lambda *args: traced.append(1) or inner(*args))
    gradient = jax.jit(jax.grad(lambda x: cube(x).sum()))
    for _ in range(3):
        jax.block_until_ready((gradient(X), cube(X), cube(W)))
    once = len(traced)
    jax.block_until_ready([(gradient(X * k), cube(X * k)) for k in range(3)])
    assert len(traced) == once > 0


def test_float32_and_float64_stay_what_they_are(compile_source: Compile) -> None:
    """In values and in both modes."""
    for kind, dtype in (("float", jnp.float32), ("double", jnp.float64)):
        f = compile_source(CUBE.replace("double", kind), "cube", name=f"{kind}.c")
        x = X.astype(dtype)
        parts = [f(x), jax.grad(lambda x, f=f: f(x).sum())(x), jax.jvp(f.apply, (x,), (x,))[1]]
        assert [p.dtype for p in parts] == [dtype] * 3


def test_buffers_are_used_in_place(compile_source: Compile) -> None:
    """The foreign code sees the address of the array itself, writes where XLA wants it, and nothing is copied."""
    source = "#include <stdint.h>\nvoid where(const double* x, int n, int64_t* place, double* y)\n"
    source += "{ *place = (int64_t)x; for (int i = 0; i < n; i++) y[i] = 2 * x[i]; }\n"
    f = jax.jit(compile_source(source, "where", "x[n] -> place, y[n]").apply)
    x = jax.device_put(np.arange(1000.0))
    before = ffgrad.copies()
    place, y = f(x)
    assert int(place) == x.unsafe_buffer_pointer()
    agree(y, 2 * x)
    assert ffgrad.copies() == before


def test_the_object_is_that_of_the_other_front_ends(cube: Enzyme) -> None:
    """Names, signature, manifest, text."""
    assert (cube.inputs, cube.outputs) == (["x"], ["y"])
    assert "cube" in repr(cube) and cube.signature in repr(cube)
    assert cube.manifest["prototype"]["function"] == "cube"


def test_without_jit_it_still_runs(cube: Enzyme) -> None:
    """jax.disable_jit is about the user's functions."""
    with jax.disable_jit():
        agree(jax.grad(lambda x: cube(x).sum())(X), 3 * X**2)
