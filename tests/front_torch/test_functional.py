"""torch.autograd beyond backward: its functional API, batched gradients, compiled autograd. Right, or refused by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from ffgrad.errors import DifferentiationError, ShapeError
from ffgrad.torch import Enzyme
from support.fixtures import Compile
from support.programs import PAIR
from torch.autograd import functional

Pair = Callable[[torch.Tensor, torch.Tensor], tuple[torch.Tensor, torch.Tensor]]


def written(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The same as ``pair``, in torch."""
    return a * b, a**2 + torch.sin(b)


def leaves() -> list[torch.Tensor]:
    """Two vectors whose gradients are kept."""
    return [torch.randn(4, dtype=torch.float64, requires_grad=True) for _ in range(2)]


def one(f: Pair) -> Callable[..., torch.Tensor]:
    """A function of one vector with one vector as its value."""
    return lambda a: f(a, 2 * a)[0] * f(a.sin(), a)[1]


def number(f: Pair) -> Callable[..., torch.Tensor]:
    """A number."""
    return lambda a: one(f)(a).square().sum()


FUNCTIONAL: dict[str, Callable[[Pair, torch.Tensor, torch.Tensor], Any]] = {
    "jacobian": lambda f, x, v: functional.jacobian(one(f), x),
    "jacobian, two inputs": lambda f, x, v: functional.jacobian(f, (x, v)),
    "jacobian, create_graph": lambda f, x, v: torch.autograd.grad(
        functional.jacobian(one(f), x, create_graph=True).square().sum(), x
    ),
    "jacobian, forward, vectorized": lambda f, x, v: functional.jacobian(
        one(f), x, strategy="forward-mode", vectorize=True
    ),
    "hessian": lambda f, x, v: functional.hessian(number(f), x),
    "hvp": lambda f, x, v: functional.hvp(number(f), x, v),
    "vhp": lambda f, x, v: functional.vhp(number(f), x, v),
    "jvp, by double backward": lambda f, x, v: functional.jvp(one(f), x, v),
    "vjp": lambda f, x, v: functional.vjp(one(f), x, v),
}
# Those that run a backward under torch's older map, which custom operators cannot join.
BATCHED: dict[str, Callable[[Pair, torch.Tensor, torch.Tensor], Any]] = {
    "is_grads_batched": lambda f, x, v: torch.autograd.grad(
        one(f)(x), x, torch.eye(len(x)).double(), is_grads_batched=True
    ),
    "jacobian, vectorized": lambda f, x, v: functional.jacobian(one(f), x, vectorize=True),
    "hessian, vectorized": lambda f, x, v: functional.hessian(number(f), x, vectorize=True),
    "hessian, forward over reverse": lambda f, x, v: functional.hessian(
        number(f), x, vectorize=True, outer_jacobian_strategy="forward-mode"
    ),
}


@pytest.mark.parametrize("name", FUNCTIONAL)
def test_the_functional_api_agrees_with_torch(pair: Enzyme, name: str) -> None:
    """Beside the same formula written in torch."""
    x, v = torch.randn(2, 4, dtype=torch.float64)
    x.requires_grad_()
    torch.testing.assert_close(FUNCTIONAL[name](pair, x, v), FUNCTIONAL[name](written, x, v))


@pytest.mark.parametrize("name", BATCHED)
def test_batched_gradients_agree_with_torch(pair: Enzyme, name: str) -> None:
    """In the older map of torch; one native loop over the rows."""
    x, v = torch.randn(2, 4, dtype=torch.float64)
    x.requires_grad_()
    torch.testing.assert_close(BATCHED[name](pair, x, v), BATCHED[name](written, x, v))


def test_batched_gradients_of_some_outputs_alone(pair: Enzyme) -> None:
    """A cotangent that is not mapped stands beside one that is, and one is missing."""
    a, b = leaves()
    rows = torch.eye(4).double()
    got = torch.autograd.grad(pair(a, b)[1], (a, b), rows, is_grads_batched=True)
    torch.testing.assert_close(got, torch.autograd.grad(written(a, b)[1], (a, b), rows, is_grads_batched=True))


def test_a_map_of_batched_gradients_inside_of_another_is_refused(pair: Enzyme) -> None:
    """With what nests."""
    from torch._vmap_internals import _vmap

    a, b = torch.randn(2, 3, 4, dtype=torch.float64)
    with pytest.raises(
        DifferentiationError, match="cannot be mapped by is_grads_batched=True inside of another"
    ) as caught:
        _vmap(lambda a: _vmap(lambda b: pair(a, b)[0])(b))(a)
    assert caught.value.code == "nested-batched-gradients" and "torch.func.vmap" in caught.value.hints[0]


def test_a_third_derivative_is_refused_by_the_functional_api(pair: Enzyme) -> None:
    """At the call that requests it."""
    x, v = leaves()
    change = functional.hvp(number(pair), x, v, create_graph=True)[1]
    with pytest.raises(DifferentiationError, match="third derivatives of `pair`"):
        torch.autograd.grad(change.sum(), x)


# --- compiled autograd --------------------------------------------------------------------------------


@pytest.mark.parametrize("twice", [False, True])
def test_compiled_autograd_agrees_with_eager(pair: Enzyme, twice: bool) -> None:
    """The whole backward pass as a graph, of eager calls."""
    from torch._dynamo import compiled_autograd

    a, b = leaves()

    def gradients(f: Pair) -> list[torch.Tensor]:
        a.grad = b.grad = None
        total = (f(a.sin(), b)[0] * f(a, b)[1]).sum()
        if twice:
            total = torch.autograd.grad(total, a, create_graph=True)[0].square().sum()
        total.backward()
        return [a.grad, b.grad]  # type: ignore[list-item]

    want = gradients(written)
    compiler = torch.compile(backend="aot_eager", fullgraph=True)
    with compiled_autograd._enable(compiler):
        got = gradients(pair)
    torch.testing.assert_close(got, want)


def test_compiled_autograd_of_a_compiled_function(pair: Enzyme) -> None:
    """As torch.compile uses it by its own switch."""
    a, b = leaves()

    def step(f: Pair) -> tuple[torch.Tensor, ...]:
        total = (f(a.sin(), b)[0] * f(a, b)[1]).sum()
        total.backward()
        result = a.grad.clone(), b.grad.clone()  # type: ignore[union-attr]
        a.grad = b.grad = None
        return result

    want = step(written)
    with torch._dynamo.config.patch(compiled_autograd=True):
        torch.testing.assert_close(torch.compile(lambda: step(pair), backend="aot_eager")(), want)


# --- second derivatives that do not exist -------------------------------------------------------------

# The gradient of `level` is right; what computes it goes through text, which no engine differentiates. Its forward mode has
# a second derivative, so jacfwd(jacfwd(f)) is not among what follows.
BY_TEXT = """\
#include <stdio.h>
#include <stdlib.h>
double level(double x) { return x * x * x; }
double level_fwd(double x, double dx, double* dy) { *dy = 3 * x * x * dx; return x * x * x; }
void level_rev(double x, double* dx, double dy) {
  char text[40];
  snprintf(text, sizeof text, "%.17g", 3 * x * x);
  *dx += atof(text) * dy;
}
void f(const double* x, int n, double* y) { for (int i = 0; i < n; i++) y[i] = level(x[i]); }
"""
SECOND: dict[str, Callable[[Enzyme, torch.Tensor], Any]] = {
    "double backward": lambda f, x: torch.autograd.grad(
        torch.autograd.grad(f(x).sum(), x, create_graph=True)[0].sum(), x
    ),
    "functional.hessian": lambda f, x: functional.hessian(lambda x: f(x).sum(), x),
    "hessian": lambda f, x: torch.func.hessian(lambda x: f(x).sum())(x),
    "vmap of hessian": lambda f, x: torch.func.vmap(torch.func.hessian(lambda x: f(x).sum()))(torch.stack([x, x])),
    "compiled": lambda f, x: torch.compile(
        torch.func.hessian(lambda x: f(x).sum()), fullgraph=True, backend="aot_eager"
    )(x),
}


@pytest.mark.parametrize("name", SECOND)
def test_a_second_derivative_that_does_not_exist_is_refused_at_every_door(compile_source: Compile, name: str) -> None:
    """The first one is there, before and after."""
    f = compile_source(BY_TEXT, "f", "x[n] -> y[n]", derivatives={"level": ("level_fwd", "level_rev")})
    x = torch.randn(3, dtype=torch.float64, requires_grad=True)
    for _ in range(2):
        torch.testing.assert_close(torch.autograd.grad(f(x).sum(), x)[0], 3 * x.detach() ** 2)
        with pytest.raises(DifferentiationError) as caught:
            SECOND[name](f, x if name.startswith(("double", "functional")) else x.detach())
        assert caught.value.function == "f" and caught.value.code and caught.value.hints


# --- sizes that do not fit ----------------------------------------------------------------------------


def test_a_wrong_batch_of_cotangents_is_torchs_own_error(pair: Enzyme) -> None:
    """Before anything foreign runs."""
    a, b = leaves()
    with pytest.raises(RuntimeError, match=r"(?i)shape|size"):
        torch.autograd.grad(pair(a, b)[0], a, torch.eye(3).double(), is_grads_batched=True)
    with pytest.raises(RuntimeError, match=r"(?i)mismatch in shape"):
        torch.autograd.grad(pair(a, b)[0], a, torch.ones(3).double())


def test_a_wrong_batch_size_names_both_sizes(compile_source: Compile) -> None:
    """In a `...` signature, in the inputs and in the gradient's graph."""
    f = compile_source(PAIR, "pair", "a[...,n], b[...,n] -> product[...,n], mixed[...,n]")
    a, b = torch.randn(3, 4).double().requires_grad_(), torch.randn(2, 4).double()
    with pytest.raises(ShapeError, match="3.*2|2.*3"):
        f(a, b)
    with pytest.raises(torch._dynamo.exc.TorchRuntimeError, match=r"(?s)batch dimensions .*3.*2.* do not fit"):
        torch.compile(lambda a, b: f(a, b)[0], backend="aot_eager")(a, b)
