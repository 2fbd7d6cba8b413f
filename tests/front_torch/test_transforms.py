"""torch.func on foreign functions: every transform and their compositions, compared with the same formula written in torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from ffgrad.errors import DifferentiationError, DtypeError, ShapeError
from ffgrad.torch import Enzyme
from support.fixtures import Compile
from support.programs import DECAY, DECAY_SIGNATURE
from torch.func import functional_call, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp, vmap

Pair = Callable[[torch.Tensor, torch.Tensor], tuple[torch.Tensor, torch.Tensor]]


def written(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The same as ``pair``, in torch."""
    return a * b, a**2 + torch.sin(b)


def loss(f: Pair) -> Callable[..., torch.Tensor]:
    """A scalar in which the cotangents depend on the inputs."""
    return lambda a, b: sum((k + 1) * (y**2).sum() for k, y in enumerate(f(a, b)))  # type: ignore[misc,return-value]


# Each makes of a function of two vectors another; all must agree with the formula in torch.
COMPOSITIONS: dict[str, Callable[[Pair], Callable[..., Any]]] = {
    "grad": lambda f: grad(loss(f), (0, 1)),
    "grad_and_value": lambda f: grad_and_value(loss(f), (0, 1)),
    "vjp": lambda f: lambda a, b: vjp(f, a, b)[1]((b, a)),
    "jvp": lambda f: lambda a, b: jvp(f, (a, b), (b, a)),
    "jvp in one input": lambda f: lambda a, b: jvp(lambda x: f(a, x), (b,), (a,)),
    "jacrev": lambda f: jacrev(f, (0, 1)),
    "jacfwd": lambda f: jacfwd(f, (0, 1)),
    "hessian": lambda f: hessian(loss(f), (0, 1)),
    "hessian of a vector": lambda f: jacfwd(jacrev(f, (0, 1)), (0, 1)),
    "jacrev of jacrev": lambda f: jacrev(jacrev(loss(f), (0, 1)), (0, 1)),
    "jacrev of jacfwd": lambda f: jacrev(jacfwd(loss(f), (0, 1)), (0, 1)),
    "grad of a gradient's norm": lambda f: grad(lambda a, b: grad(loss(f))(a, b).square().sum(), (0, 1)),
    "jvp of grad": lambda f: lambda a, b: jvp(grad(loss(f), (0, 1)), (a, b), (b, a)),
    "vjp of grad": lambda f: lambda a, b: vjp(grad(loss(f), (0, 1)), a, b)[1]((b, a)),
    "vjp of jvp": lambda f: lambda a, b: vjp(lambda x: jvp(f, (x, b), (b, a))[1], a)[1]((b, a)),
    "jacfwd of jacfwd": lambda f: jacfwd(jacfwd(f, (0, 1)), (0, 1)),
    "jacfwd of jacfwd of a loss": lambda f: jacfwd(jacfwd(loss(f), (0, 1)), (0, 1)),
    "jvp of jvp": lambda f: lambda a, b: jvp(lambda x: jvp(f, (x, b), (b, a)), (a,), (b,)),
    "jvp of jvp, moving tangents": lambda f: lambda a, b: jvp(lambda x: jvp(f, (x, b), (b, x)), (a,), (b,)),
    "grad of jvp of jvp in both directions": lambda f: (
        lambda a, b: grad(lambda t: loss(lambda s, _: jvp(lambda x: jvp(f, (x, b), (s, b))[1], (a,), (s,))[1])(t, b))(b)
    ),
    "jvp of jvp of jvp in both directions": lambda f: (
        lambda a, b: jvp(lambda t: jvp(lambda x: jvp(f, (x, b), (t, b))[1], (a,), (t,))[1], (b,), (a,))
    ),
    "jvp of vjp in the cotangent": lambda f: lambda a, b: jvp(lambda v: vjp(f, a, b)[1]((v, v)), (a,), (b,)),
}
MAPPED: dict[str, Callable[[Pair], Callable[..., Any]]] = {
    "vmap": lambda f: vmap(f),
    "vmap over a column": lambda f: lambda a, b: vmap(f, (1, 0), 1)(a.T, b),
    "vmap with a shared input": lambda f: lambda a, b: vmap(f, (0, None))(a, b[0]),
    "vmap of vmap": lambda f: lambda a, b: vmap(vmap(f, (0, None)), (None, 0))(a, b),
    "vmap of vmap, all": lambda f: lambda a, b: vmap(vmap(f))(torch.stack([a, b]), torch.stack([b, b])),
    "vmap of grad": lambda f: vmap(grad(loss(f), (0, 1))),
    "vmap of grad, shared input": lambda f: lambda a, b: vmap(grad(loss(f), (0, 1)), (0, None))(a, b[0]),
    "grad of vmap": lambda f: grad(loss(vmap(f)), (0, 1)),
    "grad of vmap, shared input": lambda f: lambda a, b: grad(loss(vmap(f, (0, None))), (0, 1))(a, b[0]),
    "grad of vmap of vmap": lambda f: grad(loss(vmap(vmap(f, (0, None)), (None, 0))), (0, 1)),
    "vmap of jvp": lambda f: vmap(lambda a, b: jvp(f, (a, b), (b, a))),
    "jvp of vmap, shared input": lambda f: lambda a, b: jvp(vmap(f, (0, None)), (a, b[0]), (b, a[0])),
    "vmap of hessian": lambda f: vmap(hessian(loss(f), (0, 1))),
    "vmap of hessian, shared": lambda f: lambda a, b: vmap(hessian(loss(f), (0, 1)), (None, 0))(a[0], b),
    "hessian of vmap": lambda f: lambda a, b: hessian(loss(vmap(f, (0, None))), (0, 1))(a, b[0]),
    "vmap of jacfwd of jacfwd": lambda f: vmap(jacfwd(jacfwd(f, (0, 1)), (0, 1))),
    "vmap of jacfwd of jacfwd, shared": lambda f: lambda a, b: vmap(jacfwd(jacfwd(f)), (None, 0))(a[0], b),
    "vmap of jacrev": lambda f: vmap(jacrev(f, (0, 1))),
    "vmap of vjp over cotangents": lambda f: lambda a, b: vmap(lambda v: vjp(f, a[0], b[0])[1]((v, v)))(a),
}


@pytest.mark.parametrize("name", COMPOSITIONS)
def test_a_composition_agrees_with_torch(pair: Enzyme, name: str) -> None:
    """On two vectors."""
    a, b = torch.randn(2, 4, dtype=torch.float64)
    torch.testing.assert_close(COMPOSITIONS[name](pair)(a, b), COMPOSITIONS[name](written)(a, b))


@pytest.mark.parametrize("name", MAPPED)
def test_a_mapped_composition_agrees_with_torch(pair: Enzyme, name: str) -> None:
    """On two batches of vectors; the whole batch is one native call."""
    a, b = torch.randn(2, 3, 4, dtype=torch.float64)
    torch.testing.assert_close(MAPPED[name](pair)(a, b), MAPPED[name](written)(a, b))


def test_scalars_by_value_are_mapped_too(compile_source: Compile) -> None:
    """One rate for each curve, one time axis for all."""
    decay = compile_source(DECAY, "decay", DECAY_SIGNATURE)
    t, rates = torch.linspace(0, 1, 5, dtype=torch.float64), torch.tensor([0.3, 1.0, 2.0], dtype=torch.float64)
    curves = vmap(lambda r: decay(t, 2.0, r))(rates)
    torch.testing.assert_close(curves, 2 * torch.exp(-rates[:, None] * t))
    slopes = vmap(grad(lambda r: decay(t, 2.0, r).sum()))(rates)
    torch.testing.assert_close(slopes, (-2 * t * torch.exp(-rates[:, None] * t)).sum(1))


def test_linearize_follows_the_forward_mode(pair: Enzyme) -> None:
    """The linear map at a point."""
    a, b = torch.randn(2, 4, dtype=torch.float64)
    outputs, push = linearize(lambda x: pair(x, b), a)
    torch.testing.assert_close(push(b), jvp(lambda x: written(x, b), (a,), (b,))[1])
    torch.testing.assert_close(outputs, written(a, b))


def test_functional_call_of_a_module_reaches_the_operation(cube: Enzyme) -> None:
    """Gradients with respect to a module's parameters, a sample at a time."""

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = torch.nn.Parameter(torch.randn(4, dtype=torch.float64))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return cube(self.w * x).sum()

    model = Model()
    x = torch.randn(5, 4, dtype=torch.float64)
    weights = {"w": model.w.detach()}
    each = vmap(grad(lambda w, x: functional_call(model, w, (x,))), (None, 0))(weights, x)["w"]
    torch.testing.assert_close(each, 3 * model.w.detach() ** 2 * x**3)


def test_integer_outputs_take_no_part_in_transforms(compile_source: Compile) -> None:
    """They come out as they are."""
    source = "void f(const double* x, int n, double* y, long* positive) {\n"
    source += "  *positive = 0;\n  for (int i = 0; i < n; i++) { y[i] = x[i] * x[i]; *positive += x[i] > 0; }\n}\n"
    f = compile_source(source, "f", "x[n] -> y[n], positive[1]")
    x = torch.randn(3, 4, dtype=torch.float64)
    squares, positive = vmap(f)(x)
    torch.testing.assert_close(squares, x**2)
    assert positive.flatten().tolist() == (x > 0).sum(1).tolist()
    gradient, counts = vmap(grad(lambda x: (f(x)[0].sum(), f(x)[1]), has_aux=True))(x)
    torch.testing.assert_close(gradient, 2 * x)
    assert torch.equal(counts, positive)


def test_an_argument_updated_in_place_is_mapped(compile_source: Compile) -> None:
    """The operation is functional, so a map is too; a shared argument's gradient is the sum."""
    source = "void decay(double* u, double dt, int n) { for (int i = 0; i < n; i++) u[i] -= dt * u[i] * u[i]; }\n"
    step = compile_source(source, "decay", "u[n], dt -> u[n]")
    u, dt = torch.randn(4, dtype=torch.float64), torch.tensor([0.1, 0.2, 0.3], dtype=torch.float64)
    before = u.clone()
    torch.testing.assert_close(vmap(step, (None, 0))(u, dt), u - dt[:, None] * u**2)
    gradients = grad(lambda u, dt: vmap(step, (None, 0))(u, dt).sum(), (0, 1))(u, dt)
    torch.testing.assert_close(gradients, ((1 - 2 * dt[:, None] * u).sum(0), -(u**2).sum() * torch.ones(3).double()))
    assert torch.equal(u, before)


# --- what is refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize("outer", [jacrev, jacfwd])
@pytest.mark.parametrize("inner", [jacrev, jacfwd])
@pytest.mark.parametrize("innermost", [jacrev, jacfwd])
def test_a_third_derivative_is_refused(cube: Enzyme, outer: Any, inner: Any, innermost: Any) -> None:
    """With its code and a remedy, in every combination of modes."""
    x = torch.randn(3, dtype=torch.float64)
    with pytest.raises(
        DifferentiationError, match="third derivatives of `cube` are not available\n.*create_graph"
    ) as caught:
        outer(inner(innermost(lambda x: cube(x).sum())))(x)
    assert caught.value.code == "no-third-derivative"


def test_wrong_shapes_and_types_are_named_inside_transforms(pair: Enzyme) -> None:
    """As outside of them."""
    a = torch.randn(3, 4, dtype=torch.float64)
    with pytest.raises(ShapeError, match="`n` is 4 in .* but 3"):
        vmap(pair, (0, None))(a, a[0, :3])
    with pytest.raises(DtypeError, match="float64"):
        vmap(pair)(a.float(), a)
    with pytest.raises(ShapeError, match="expected 1 dimension"):
        grad(lambda x: pair(x, x)[0].sum())(a)


def test_batches_of_two_sizes_are_refused_by_name(pair: Enzyme) -> None:
    """By torch, before anything runs."""
    a = torch.randn(3, 4, dtype=torch.float64)
    with pytest.raises(ValueError, match="same size in the mapped dimension"):
        vmap(pair)(a, a[:2])
