"""Functions whose parameters are objects (containers, spans, Eigen's matrices, rows): values and derivatives through generated adapters."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ffgrad
import numpy as np
import pytest
from ffgrad.numpy import enzyme
from numpy.typing import NDArray
from support.loader import FOLDER
from torture.faults.failing_tools import tools

SOURCES = FOLDER / "adapters"
CPP20 = ["-std=c++20"]
EIGEN = next((p for p in (Path("/usr/include/eigen3"), Path("/usr/local/include/eigen3")) if p.exists()), None)

Array = NDArray[Any]


def agrees(op: Any, value: Callable[..., Any], *inputs: Any) -> None:
    """Value against ``value``, and the pullback against central differences of ``value``."""
    given = [i.copy() if isinstance(i, np.ndarray) else i for i in inputs]
    result, pullback = op.vjp(*inputs)
    expected = np.asarray(value(*inputs))
    np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-12)
    rng = np.random.default_rng(5)
    cotangent = rng.standard_normal(expected.shape)
    gradients = pullback(cotangent if expected.shape else float(cotangent))
    for at, (x, gradient) in enumerate(zip(inputs, gradients, strict=True)):
        if not isinstance(x, np.ndarray) or x.dtype.kind != "f":
            continue
        direction = rng.standard_normal(x.shape)
        step = 1e-6
        moved = [np.sum(cotangent * value(*inputs[:at], x + s * step * direction, *inputs[at + 1 :])) for s in (1, -1)]
        slope = (moved[0] - moved[1]) / (2 * step)
        np.testing.assert_allclose(np.sum(gradient * direction), slope, rtol=1e-6, atol=1e-7)
        np.testing.assert_array_equal(x, given[at])


def normal(*shape: int) -> Array:
    return np.random.default_rng(sum(shape)).standard_normal(shape)


def rows_of_arrays(p: Array) -> Any:
    return np.sqrt((np.diff(p, axis=0) ** 2).sum(axis=1)).sum()


CONTAINERS: dict[str, tuple[str, str | None, Callable[..., Any], list[Any]]] = {
    "reference": ("ns::norm", "x[n], p -> return", lambda x, p: (np.abs(x) ** p).sum() ** (1 / p), [normal(4), 3.0]),
    "default": ("sum_of_squares<double>", None, lambda x: (x**2).sum(), [normal(4)]),
    "static": ("squares", "value[n], i -> squares[n]", lambda x, a: a * x * x, [normal(5), 2.0]),
    "refilled": ("sines", "x[n] -> y[n]", np.sin, [normal(5)]),
    "result": ("matvec", "a[m,n], x[n] -> return[m]", lambda a, x: a @ x, [normal(3, 4), normal(4)]),
    "value": ("by_value", "x[n] -> return", lambda x: (x**2).sum(), [normal(4)]),
    "constants": (
        "gathered",
        "x[n], k[m] -> return",
        lambda x, k: (x[k] ** 2).sum(),
        [normal(4), np.array([0, 3, 3], np.int32)],
    ),
    "array": ("cross", "a[3], b[3] -> return[3]", np.cross, [normal(3), normal(3) + 1]),
    "arrays": ("path_length", "p[n,2] -> return", rows_of_arrays, [normal(5, 2)]),
    "nested": ("outer", "a[m], b[n] -> return[m,n]", np.outer, [normal(3), normal(2)]),
    "overload": (
        "overloaded(const std::vector<double>&)",
        "x[n] -> return",
        lambda x: x[0] * x[0],
        [normal(2)],
    ),
    "nameless namespace": (
        "(anonymous namespace)::hidden",
        "x[n], a -> return",
        lambda x, a: a * x[0] * x[1],
        [normal(2), 2.0],
    ),
    "pointer beside": (
        "mixed",
        "x[n+1] -> y[2]",
        lambda x: np.array([x[-1] * x[0], x[1]]),
        [normal(4)],
    ),
}


@pytest.mark.parametrize("case", CONTAINERS)
def test_containers_are_parameters_and_results(case: str) -> None:
    function, signature, value, inputs = CONTAINERS[case]
    agrees(enzyme(SOURCES / "containers.cpp", function, signature), value, *inputs)


def test_a_container_is_updated_in_place_in_a_copy() -> None:
    op = enzyme(SOURCES / "containers.cpp", "step", "u[n], dt -> u[n]")
    u = np.array([1.0, 2.0, 3.0], np.float32)
    result, pullback = op.vjp(u, np.float32(0.5))
    np.testing.assert_allclose(result, [1.0, 2.5, 6.125])
    np.testing.assert_array_equal(u, [1.0, 2.0, 3.0])
    np.testing.assert_allclose(pullback(np.array([0, 0, 1], np.float32))[0], [2.5, 2.5, 1.0])


SPANS: dict[str, tuple[str, str, Callable[..., Any], list[Any]]] = {
    "constant": ("entropy", "p[n] -> return", lambda p: -(p / p.sum() * np.log(p / p.sum())).sum(), [normal(5) ** 2]),
    "written": ("cubes", "x[n] -> y[n]", lambda x: x**3, [normal(4)]),
    "fixed": ("triple", "v[3] -> return", np.prod, [normal(3)]),
}


@pytest.mark.parametrize("case", SPANS)
def test_spans_are_parameters(case: str) -> None:
    function, signature, value, inputs = SPANS[case]
    agrees(enzyme(SOURCES / "spans.cpp", function, signature, flags=CPP20), value, *inputs)


def spd(n: int) -> Array:
    a = normal(n, n)
    return a @ a.T + n * np.eye(n)


EIGENS: dict[str, tuple[str, str | None, Callable[..., Any], list[Any]]] = {
    "matrix": (
        "mahalanobis",
        "x[n], mean[n], covariance[n,n] -> return",
        lambda x, mean, c: (x - mean) @ np.linalg.solve((np.tril(c) + np.tril(c, -1).T), x - mean),
        [normal(3), normal(3) + 1, spd(3)],
    ),
    "result": ("product", "a[m,n], x[n] -> return[m]", lambda a, x: a @ x, [normal(2, 3), normal(3)]),
    "views": ("outer", "a[m], b[n] -> return[m,n]", np.outer, [normal(2), normal(3)]),
    "fixed": ("rotated", None, lambda r, v: r @ v, [normal(3, 3), normal(3)]),
    "vectors in a container": (
        "path_length",
        "points[n,2], weights[n,k] -> return",
        lambda p, w: (np.sqrt((np.diff(p, axis=0) ** 2).sum(axis=1)) * w[1:].sum(axis=1)).sum(),
        [normal(4, 2), normal(4, 3)],
    ),
    "members": (
        "layer",
        "l.weights[m,n], l.bias[m], x[n] -> return[m]",
        lambda w, b, x: np.tanh(w @ x + b),
        [normal(2, 3), normal(2), normal(3)],
    ),
    "half fixed": (
        "weighted",
        "points[n,2], w[n] -> return",
        lambda p, w: (p[:, 0] * w + p[:, 1] ** 2).sum(),
        [normal(4, 2), normal(4)],
    ),
}


def expanded(power: int) -> Callable[..., Any]:
    return lambda c, x, p: (c * x[:, None] ** (power + np.arange(len(c)))).sum() + (p[:, 0] * p[:, 1]).sum()


def test_without_a_signature_containers_have_lengths_of_their_own() -> None:
    op = enzyme(SOURCES / "containers.cpp", "expanded")
    c, x, p = normal(2), normal(5), normal(3, 2)
    value, pullback = op.vjp(c, x, 3, p)
    np.testing.assert_allclose(value, expanded(3)(c, x, p), rtol=1e-12)
    gradients = pullback(1.0)
    for at, name in [(0, "c"), (1, "x"), (3, "p")]:
        given = {"c": c, "x": x, "p": p}
        step = 1e-6 * normal(*given[name].shape)
        moved = [expanded(3)(**{**given, name: given[name] + sign * step}) for sign in (1, -1)]
        np.testing.assert_allclose((gradients[at] * step).sum(), (moved[0] - moved[1]) / 2, rtol=1e-6)


@pytest.mark.skipif(EIGEN is None, reason="Eigen is not installed (libeigen3-dev)")
def test_without_a_signature_matrices_have_the_extents_that_are_given() -> None:
    function, _, value, inputs = EIGENS["matrix"]
    agrees(enzyme(SOURCES / "eigen.cpp", function, include_dirs=[str(EIGEN)]), value, *inputs)


@pytest.mark.skipif(EIGEN is None, reason="Eigen is not installed (libeigen3-dev)")
@pytest.mark.parametrize("case", EIGENS)
def test_matrices_of_eigen_have_the_indices_of_their_tensors(case: str) -> None:
    function, signature, value, inputs = EIGENS[case]
    signature = signature or "r[3,3], v[3] -> return[3]"
    agrees(enzyme(SOURCES / "eigen.cpp", function, signature, include_dirs=[str(EIGEN)]), value, *inputs)


@pytest.mark.skipif(EIGEN is None, reason="Eigen is not installed (libeigen3-dev)")
def test_views_of_eigen_are_written_to() -> None:
    op = enzyme(SOURCES / "eigen.cpp", "scaled", "a[m,n] -> b[m,n], sums[m]", include_dirs=[str(EIGEN)])
    a = normal(2, 3)
    (b, sums), pullback = op.vjp(a)
    weights = np.arange(1, 4)
    np.testing.assert_allclose(b, weights * a**2, rtol=1e-13)
    np.testing.assert_allclose(sums, b.sum(axis=1), rtol=1e-13)
    cotangents = normal(2, 3), normal(2)
    expected = 2 * weights * a * (cotangents[0] + cotangents[1][:, None])
    np.testing.assert_allclose(pullback(cotangents)[0], expected, rtol=1e-12)

    op = enzyme(SOURCES / "eigen.cpp", "doubled", "a[m,n] -> a[m,n]", include_dirs=[str(EIGEN)])
    result, pullback = op.vjp(a)
    np.testing.assert_allclose(result, a * [[2], [1]])
    np.testing.assert_allclose(pullback(np.ones((2, 3)))[0], [[2] * 3, [1] * 3])


def test_rows_are_pointers_into_a_matrix() -> None:
    op = enzyme(SOURCES / "rows.c", "energy", "a[m,n] -> return")
    agrees(op, lambda a: ((np.arange(3) + 1)[:, None] * a**2).sum(), normal(3, 2))
    op = enzyme(SOURCES / "rows.c", "sines", "a[m,n] -> b[m,n]")
    agrees(op, lambda a: (np.arange(3) + 1)[:, None] * np.sin(a), normal(3, 2))


def potential(k: Any, scale: Any, power: int, w: Array, knots: Array, x: Any, y: Any, z: Any, at: Array) -> Any:
    return (k * (at - x) ** power * scale).sum() + (w[np.arange(len(knots)) % 3] * knots).sum() * y + z


def decay(x: Array, amplitude: Any, bounds: Array, rate: Any, limits: Array) -> Any:
    return (np.exp(-rate * x) * amplitude + bounds[1] * limits[0]).sum()


STRUCTURES: dict[str, tuple[str, str, str, Callable[..., Any], list[Any]]] = {
    "reference": (
        "structures.cpp",
        "model::potential",
        "o.stiffness, o.scale, o.power, o.weights[3], o.knots[k], o.centre.x, o.centre.y, o.centre.z, x[n] -> return",
        potential,
        [2.0, np.float32(1.5), 2, normal(3), normal(5), 0.1, 0.2, 0.3, normal(4)],
    ),
    "value": (
        "structures.cpp",
        "model::length",
        "v.x, v.y, v.z -> return",
        lambda x, y, z: np.sqrt(x * x + y * y + z * z),
        [np.array(3.0), np.array(4.0), np.array(2.0)],
    ),
    "member function": (
        "structures.cpp",
        "model::Spring::energy",
        "this.k, x[n] -> return",
        lambda k, x: k * (x**2).sum(),
        [np.array(3.0), normal(4)],
    ),
    "C": (
        "structures.c",
        "decay",
        "g.x[g.n], g.inner.rate, g.inner.bounds[2], o.rate, o.bounds[2] -> return",
        decay,
        [normal(4), np.array(2.0), normal(2), np.array(1.5), normal(2) + 1],
    ),
}


@pytest.mark.parametrize("case", STRUCTURES)
def test_members_of_structures_are_parameters(case: str) -> None:
    source, function, signature, value, inputs = STRUCTURES[case]
    agrees(enzyme(SOURCES / source, function, signature), value, *inputs)


def test_members_are_updated_in_place_and_returned() -> None:
    signature = "s.position[s.n], s.moments[2], dt -> s.position[s.n], s.energy, s.moments[2]"
    op = enzyme(SOURCES / "structures.cpp", "model::advance", signature)
    x, dt = normal(4), 0.1
    (position, energy, moments), pullback = op.vjp(x, np.ones(2), dt)
    y = x + dt * x * x
    np.testing.assert_allclose(position, y, rtol=1e-13)
    np.testing.assert_allclose(energy, (y**2).sum(), rtol=1e-13)
    np.testing.assert_allclose(moments, [dt, 1.0])
    gradients = pullback((np.ones(4), 1.0, np.ones(2)))
    np.testing.assert_allclose(gradients[0], (1 + 2 * y) * (1 + 2 * dt * x), rtol=1e-12)
    np.testing.assert_allclose(gradients[1], [dt, 1.0], rtol=1e-12)
    np.testing.assert_allclose(gradients[2], ((1 + 2 * y) * x * x).sum() + 1, rtol=1e-12)


def test_second_derivatives_go_through_adapters() -> None:
    x, v = normal(4), normal(4) + 1
    op = enzyme(SOURCES / "containers.cpp", "sum_of_squares<double>")
    np.testing.assert_allclose(op.hvp(x, v), 2 * v, rtol=1e-12)
    op = enzyme(SOURCES / "structures.cpp", "model::Spring::energy", "const this.k, x[n] -> return")
    np.testing.assert_allclose(op.hvp((3.0, x), (None, v))[1], 6 * v, rtol=1e-12)


def refusal(function: str, signature: str | None, source: str = "containers.cpp") -> str:
    with pytest.raises(ffgrad.SignatureError) as caught:
        enzyme(SOURCES / source, function, signature)
    return str(caught.value)


def test_structures_that_no_adapter_can_set_are_refused() -> None:
    for function in ("model::closed", "model::derived"):
        assert "which no tensor can be passed as: wrap the function" in refusal(function, None, "structures.cpp")
    assert "which no tensor can be passed as" in refusal("listed", None, "structures.c")
    assert "is a member, which may be an input, an output or a size" in refusal("model::length", None, "structures.cpp")


def test_a_member_that_points_elsewhere_after_the_call_is_an_exception() -> None:
    signature = "s.position[s.n], s.energy -> s.position[s.n]; s.moments[2]"
    op = enzyme(SOURCES / "structures.cpp", "model::redirected", signature)
    with pytest.raises(ffgrad.ForeignError, match="`s.position` points elsewhere"):
        op.vjp(normal(3), 1.0)


def test_shapes_that_an_object_cannot_have_are_refused() -> None:
    assert "which cannot have the shape of `a[n]`: write `a[3]`" in refusal("cross", "a[n], b[3] -> return[3]")
    assert "name its shape right of `->`, as `return[n]`" in refusal("matvec", "a[m,n], x[n] -> ")
    assert "which may be an input, an output or both: give a signature" in refusal("sines", None)
    assert "the shape of the value is not known" in refusal("outer", None)


def test_a_container_of_another_size_after_the_call_is_an_exception() -> None:
    op = enzyme(SOURCES / "containers.cpp", "appended", "x[n] -> y[n]")
    with pytest.raises(ffgrad.ForeignError, match="`y` has another size than the signature says"):
        op.vjp(normal(3))


def test_a_name_of_a_later_standard_comes_with_the_flag() -> None:
    with pytest.raises(ffgrad.CompileError, match="-std=c\\+\\+20"):
        enzyme(SOURCES / "spans.cpp", "entropy", "p[n] -> return")


SQUARES = "double s = 0; for (auto v : x) s += v * v; return s; }\n"
FORETOLD: dict[str, tuple[str, list[str], int]] = {
    "containers": ("double f(const std::vector<double>& x) { " + SQUARES, [], 1),
    "aliases and namespaces": (
        "using namespace std; using Vec = vector<double>;\nnamespace model { double f(const Vec &x) { " + SQUARES + "}\n",
        [],
        1,
    ),
    "spans": ("#include <span>\ndouble f(std::span<const double> x) { " + SQUARES, CPP20, 1),
    "nested": ("double f(std::vector<std::array<double, 1>> y) { std::vector<double> x; for (auto& v : y) "
               "x.push_back(v[0]); " + SQUARES, [], 1),
    "macro": ("#define VECTOR std::vector<double>\ndouble f(const VECTOR& x) { " + SQUARES, [], 2),
    "another branch of the preprocessor": (
        "#ifdef SINGLE\nusing real = float;\n#else\nusing real = double;\n#endif\n#ifndef SINGLE\n#else\n"
        "using real = float;\n#endif\ndouble f(const std::vector<real>& x) { " + SQUARES,
        [],
        # The first is refused; clang says why once more, without the list of folders.
        4,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", FORETOLD)
def test_a_plain_declaration_is_compiled_once(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the adapter that it foretells; what it foretells wrongly counts for nothing."""
    text, flags, runs = FORETOLD[case]
    source, log, compiler = tmp_path / "f.cpp", tmp_path / "log", tmp_path / "clang++"
    source.write_text("#include <array>\n#include <vector>\n" + text)
    clang = tools()["FFGRAD_CLANG"]
    compiler.write_text(f'#!/bin/sh\ncase "$*" in *emit-llvm*) echo run >> {log};; esac\nexec {clang}++ "$@"\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("FFGRAD_CLANG", clang)
    monkeypatch.setenv("FFGRAD_CLANGXX", str(compiler))
    signature = "y[n,1] -> return" if case == "nested" else "x[n] -> return"
    op = enzyme(source, "model::f" if "namespace model" in text else "f", signature, flags=flags)
    x = normal(4, 1) if case == "nested" else normal(4)
    assert log.read_text().count("run") == runs
    np.testing.assert_allclose(op.grad(x), 2 * x, rtol=1e-12)
