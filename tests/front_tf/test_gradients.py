"""TensorFlow's interfaces for derivatives: tapes of every kind, second order, forward mode, loops, maps."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from ffgrad.tf import Enzyme
from programs import CUBE, MATVEC, MATVEC_SIGNATURE, STEP, STEP_SIGNATURE
from support.fixtures import Compile

X = tf.constant([1.0, -2.0, 3.0], tf.float64)
ONES = tf.ones(3, tf.float64)


@pytest.fixture
def cube(compile_source: Compile) -> Enzyme:
    """y = x^3."""
    return compile_source(CUBE, "cube")


@pytest.fixture
def matvec(compile_source: Compile) -> Enzyme:
    """y = A x^2 and |y|^2."""
    return compile_source(MATVEC, "matvec", MATVEC_SIGNATURE)


@pytest.fixture
def step(compile_source: Compile) -> Enzyme:
    """A step of an oscillator."""
    return compile_source(STEP, "step", STEP_SIGNATURE)


def test_the_tape_watches_variables(cube: Enzyme) -> None:
    """A trainable variable is an input like any other."""
    x = tf.Variable(X)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(cube(x))
    np.testing.assert_allclose(tape.gradient(y, x), 3 * X**2)


def test_a_persistent_tape_gives_the_same_gradient_twice(cube: Enzyme) -> None:
    """And gradients of several targets."""
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(X)
        y = cube(X)
        z = cube(y)
    np.testing.assert_allclose(tape.gradient(y, X), 3 * X**2)
    np.testing.assert_array_equal(tape.gradient(y, X), tape.gradient(y, X))
    np.testing.assert_allclose(tape.gradient(z, X), 9 * X**8)


def test_foreign_and_own_operations_mix(cube: Enzyme) -> None:
    """The chain rule applies to both."""
    with tf.GradientTape() as tape:
        tape.watch(X)
        y = tf.sigmoid(cube(tf.sin(X)))
    s = np.sin(X)
    sigmoid = 1 / (1 + np.exp(-(s**3)))
    np.testing.assert_allclose(tape.gradient(y, X), sigmoid * (1 - sigmoid) * 3 * s**2 * np.cos(X))


@pytest.mark.parametrize("graph", [False, True])
def test_second_derivatives_by_two_tapes(cube: Enzyme, graph: bool) -> None:
    """d(3 x^2)/dx."""

    def second(x: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = cube(x)
            gradient = inner.gradient(y, x)
        return outer.gradient(gradient, x)

    np.testing.assert_allclose((tf.function(second) if graph else second)(X), 6 * X)


def test_second_derivatives_agree_with_finite_differences(matvec: Enzyme) -> None:
    """Two outputs and mixed second derivatives, of the gradient in inputs and in cotangents."""
    a = tf.random.normal([2, 3], dtype=tf.float64)
    v = tf.random.normal([2], dtype=tf.float64)

    def gradient(a: tf.Tensor, x: tf.Tensor, v: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            tape.watch([a, x])
            y, s = matvec(a, x)
            scalar = tf.reduce_sum(v * y) + s
        return tf.concat([tf.reshape(g, [-1]) for g in tape.gradient(scalar, [a, x])], axis=0)

    exact, numerical = tf.test.compute_gradient(gradient, [a, X, v], delta=1e-6)
    for e, n in zip(exact, numerical, strict=True):
        np.testing.assert_allclose(e, n, rtol=1e-6, atol=1e-6)


def test_forward_over_reverse_gives_hessian_vector_products(cube: Enzyme) -> None:
    """An accumulator around a tape."""
    t = tf.constant([1.0, 2.0, -1.0], tf.float64)
    with tf.autodiff.ForwardAccumulator(X, t) as accumulator:
        with tf.GradientTape() as tape:
            tape.watch(X)
            y = tf.reduce_sum(cube(X))
        gradient = tape.gradient(y, X)
    np.testing.assert_allclose(accumulator.jvp(gradient), 6 * X * t)


def test_reverse_over_forward(cube: Enzyme) -> None:
    """A tape around an accumulator."""
    t = tf.constant([1.0, 2.0, -1.0], tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(X)
        with tf.autodiff.ForwardAccumulator(X, t) as accumulator:
            y = cube(X)
        directional = accumulator.jvp(y)
    np.testing.assert_allclose(tape.gradient(directional, X), 6 * X * t)


def test_third_derivatives_are_refused_not_wrong(cube: Enzyme) -> None:
    """With what to do next, and only where one is asked for."""
    with tf.GradientTape() as third:
        third.watch(X)
        with tf.GradientTape() as second:
            second.watch(X)
            with tf.GradientTape() as first:
                first.watch(X)
                y = cube(X)
            gradient = first.gradient(y, X)
        hessian = second.gradient(gradient, X)
    with pytest.raises(tf.errors.UnimplementedError, match="third derivatives of a foreign function"):
        third.gradient(hessian, X)


def test_jacobians_and_hessians(cube: Enzyme, matvec: Enzyme) -> None:
    """tape.jacobian loops over the rows."""
    a = tf.random.normal([2, 3], dtype=tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(X)
        y, _ = matvec(a, X)
    np.testing.assert_allclose(tape.jacobian(y, X), 2 * a.numpy() * X.numpy())
    with tf.GradientTape() as outer:
        outer.watch(X)
        with tf.GradientTape() as inner:
            inner.watch(X)
            z = tf.reduce_sum(cube(X))
        gradient = inner.gradient(z, X)
    np.testing.assert_allclose(outer.jacobian(gradient, X), np.diag(6 * X))


def test_vectorized_map_calls_the_function_for_each_element(cube: Enzyme) -> None:
    """By a loop, with gradients."""
    batch = tf.random.normal([5, 3], dtype=tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(batch)
        y = tf.vectorized_map(cube, batch)
    np.testing.assert_allclose(y, batch**3)
    np.testing.assert_allclose(tape.gradient(y, batch), 3 * batch**2)


def test_map_fn_and_while_loops_have_gradients(step: Enzyme) -> None:
    """A trajectory in a graph, beside the same steps in TensorFlow's own operations."""

    def own(u: tf.Tensor, k: tf.Tensor, c: tf.Tensor) -> tf.Tensor:
        return tf.stack([u[0] + 0.1 * u[1], u[1] + 0.1 * (-k * u[0] - c * u[1])])

    @tf.function
    def loss(k: tf.Tensor, c: tf.Tensor, foreign: bool) -> tf.Tensor:
        u = tf.constant([1.0, 0.0], tf.float64)
        for _ in tf.range(20):
            u = step(u, k, c, 0.1) if foreign else own(u, k, c)
        return tf.reduce_sum(u**2)

    parameters = [tf.constant(2.0, tf.float64), tf.constant(0.3, tf.float64)]
    gradients = []
    for foreign in (True, False):
        with tf.GradientTape() as tape:
            tape.watch(parameters)
            value = loss(*parameters, foreign)
        gradients.append([value, *tape.gradient(value, parameters)])
    np.testing.assert_allclose(*gradients)

    starts = tf.random.normal([4, 2], dtype=tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(parameters)
        ends = tf.map_fn(lambda u: step(u, *parameters, 0.1), starts)
    np.testing.assert_allclose(tape.gradient(ends, parameters)[0], -0.1 * tf.reduce_sum(starts[:, 0]))


def test_a_cond_runs_the_branch_that_is_taken(cube: Enzyme) -> None:
    """And has its gradient."""

    @tf.function
    def either(x: tf.Tensor, flag: tf.Tensor) -> tf.Tensor:
        return cube(x) if flag else 2 * x

    for flag, expected in ((True, 3 * X**2), (False, 2 * ONES)):
        with tf.GradientTape() as tape:
            tape.watch(X)
            y = either(X, tf.constant(flag))
        np.testing.assert_allclose(tape.gradient(y, X), expected)


def test_gradients_of_a_gather_arrive_dense(cube: Enzyme) -> None:
    """TensorFlow hands its gradient on as indexed slices."""
    with tf.GradientTape() as tape:
        tape.watch(X)
        y = tf.gather(cube(X), [2, 0, 2])
    np.testing.assert_allclose(tape.gradient(y, X), 3 * X**2 * [1, 0, 2])


def test_outputs_that_are_not_used_count_as_zero(matvec: Enzyme) -> None:
    """Either of two outputs alone."""
    a = tf.random.normal([2, 3], dtype=tf.float64)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(X)
        y, s = matvec(a, X)
    jacobian = 2 * a.numpy() * X.numpy()
    np.testing.assert_allclose(tape.gradient(y, X), jacobian.sum(axis=0))
    np.testing.assert_allclose(tape.gradient(s, X), 2 * y.numpy() @ jacobian)


def test_numbers_and_arrays_are_constant(step: Enzyme) -> None:
    """They take the parameter's type, and no gradient is computed for them."""
    u = tf.constant([1.0, 0.5], tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(u)
        y = step(u, 2, np.float64(0.3), 0.1)
    np.testing.assert_allclose(tape.gradient(y, u), [1 - 0.1 * 2, 0.1 + 1 - 0.03])


def test_const_inputs_have_no_gradient(compile_source: Compile) -> None:
    """As the signature says."""
    source = "double loss(const double* x, const double* w, int n)\n"
    source += "{ double s = 0; for (int i = 0; i < n; i++) s += w[i] * x[i] * x[i]; return s; }\n"
    loss = compile_source(source, "loss", "x[n], const w[n] -> return")
    with tf.GradientTape() as tape:
        tape.watch([X, ONES])
        y = loss(X, ONES)
    gradients = tape.gradient(y, [X, ONES])
    np.testing.assert_allclose(gradients[0], 2 * X)
    assert gradients[1] is None


def test_an_empty_array_has_an_empty_gradient(cube: Enzyme) -> None:
    """Nothing in, nothing out."""
    x = tf.zeros([0], tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = cube(x)
    assert y.shape == [0] and tape.gradient(y, x).shape == [0]


def test_tensors_of_any_layout_give_the_same(cube: Enzyme, matvec: Enzyme) -> None:
    """Slices and transposes of TensorFlow's are arrays of their own or start anywhere; cotangents too."""
    whole = tf.random.normal([7, 3], dtype=tf.float64)
    for x in (whole[1], whole[:, 1], tf.transpose(whole)[0], whole[3:5]):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.transpose(cube(x)))
        np.testing.assert_allclose(tape.gradient(y, x), 3 * x**2)
    a = tf.transpose(tf.random.normal([3, 2], dtype=tf.float64))
    np.testing.assert_allclose(matvec(a, X)[0], a.numpy() @ X.numpy() ** 2)


def test_the_published_call_form(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """TensorFlow-Enzyme's own example; an edited file is read again."""
    from tf_enzyme import enzyme

    monkeypatch.chdir(str(tmp_path))
    head = "void f(float* inp, unsigned long n, float* out) "
    with open("test.c", "w") as file:
        file.write(head + "{ for (int i = 0; i < n; i++) out[i] = inp[i] * inp[i]; }\n")
    inp = tf.Variable([2.0, 3.0])
    with tf.GradientTape() as tape:
        out = enzyme(inp, filename="test.c", function="f")
        out = tf.sigmoid(out)
    sigmoid = 1 / (1 + np.exp(-np.array([4.0, 9.0])))
    np.testing.assert_allclose(out, sigmoid, rtol=1e-6)
    np.testing.assert_allclose(tape.gradient(out, inp), sigmoid * (1 - sigmoid) * [4, 6], rtol=1e-3)
    with open("test.c", "w") as file:
        file.write(head + "{ for (int i = 0; i < n; i++) out[i] = 3 * inp[i]; }\n")
    np.testing.assert_allclose(enzyme(inp, "test.c", "f"), [6, 9])
