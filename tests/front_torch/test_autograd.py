"""The operation inside torch's autograd: requested gradients, incoming gradients, threads, saved tensors."""

from __future__ import annotations

from pathlib import Path

import ffgrad
import pytest
import torch
from ffgrad.torch import Enzyme
from support.fixtures import Compile, RunPython, Write
from support.programs import CUBE, PAIR, PAIR_SIGNATURE
from torch.autograd import forward_ad


def vector(*shape: int, grad: bool = True) -> torch.Tensor:
    """Normal numbers in double precision."""
    return torch.randn(*shape, dtype=torch.float64, requires_grad=grad)


def built_masks(operation: Enzyme, cache: Path) -> set[str]:
    """The sets of inputs for which the cache has a derivative, as hexadecimal masks."""
    entry = next(cache.glob("v*")) / "entries" / operation.manifest["key"]
    return {folder.name.split("-")[1] for folder in entry.glob("d1-*")}


# --- which gradients ----------------------------------------------------------------------------------


def test_an_input_that_needs_no_gradient_gets_none_and_costs_nothing(cache: Path, compile_source: Compile) -> None:
    """The derivative is built for the active inputs alone."""
    pair = compile_source(PAIR, "pair", PAIR_SIGNATURE)
    a, b = vector(4), vector(4, grad=False)
    product, mixed = pair.apply(a, b)
    (product.sum() + mixed.sum()).backward()
    torch.testing.assert_close(a.grad, b + 2 * a.detach())
    assert b.grad is None
    assert built_masks(pair, cache) == {"1"}


def test_each_set_of_active_inputs_has_a_derivative_of_its_own(cache: Path, compile_source: Compile) -> None:
    """First the second input alone, then both."""
    pair = compile_source(PAIR, "pair", PAIR_SIGNATURE)
    a, b = vector(4), vector(4)
    (gradient,) = torch.autograd.grad(pair.apply(a.detach(), b)[1].sum(), b)
    torch.testing.assert_close(gradient, torch.cos(b))
    assert built_masks(pair, cache) == {"2"}
    first, second = torch.autograd.grad(pair.apply(a, b)[0].sum(), (a, b))
    torch.testing.assert_close(first, b.detach())
    torch.testing.assert_close(second, a.detach())
    assert built_masks(pair, cache) == {"2", "3"}


def test_a_const_input_gets_no_gradient(compile_source: Compile) -> None:
    """`const` in the signature, though the tensor requires one."""
    pair = compile_source(PAIR, "pair", "const a[n], b[n] -> product[n], mixed[n]")
    a, b = vector(3), vector(3)
    product, _ = pair.apply(a, b)
    product.sum().backward()
    assert a.grad is None
    torch.testing.assert_close(b.grad, a.detach())


def test_the_same_tensor_may_be_passed_twice(pair: Enzyme) -> None:
    """Its gradients add up."""
    x = vector(5)
    product, mixed = pair.apply(x, x)
    (product.sum() + mixed.sum()).backward()
    torch.testing.assert_close(x.grad, 4 * x.detach() + torch.cos(x.detach()))


def test_a_python_float_is_constant_and_a_0d_tensor_has_a_gradient(decay: Enzyme) -> None:
    """Either is a scalar of the C function."""
    t, rate = vector(4, grad=False), torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
    y = decay.apply(t, 2.0, rate)
    expected = 2.0 * torch.exp(-0.5 * t)
    torch.testing.assert_close(y, expected)
    y.sum().backward()
    assert rate.grad is not None and rate.grad.shape == ()
    torch.testing.assert_close(rate.grad, -(t * expected).sum())
    torch.testing.assert_close(decay.apply(t, 2, rate), expected)


def test_an_integer_for_a_floating_point_scalar_is_exact(decay: Enzyme) -> None:
    """As in C, an int is a double."""
    t = vector(3, grad=False)
    torch.testing.assert_close(decay.apply(t, 3, 0), torch.full((3,), 3.0, dtype=torch.float64))


def test_parameters_and_tensor_subclasses_are_tensors(decay: Enzyme) -> None:
    """nn.Parameter above all."""
    amplitude = torch.nn.Parameter(torch.tensor(1.5, dtype=torch.float64))
    rate = torch.nn.Parameter(torch.tensor(0.3, dtype=torch.float64))
    t = vector(4, grad=False)
    decay.apply(t, amplitude, rate).sum().backward()
    torch.testing.assert_close(amplitude.grad, torch.exp(-0.3 * t).sum())
    assert rate.grad is not None


# --- which cotangents ---------------------------------------------------------------------------------


def test_a_cotangent_of_stride_zero_is_right(cube: Enzyme) -> None:
    """`sum()` sends an expanded scalar."""
    x = vector(6)
    y = cube.apply(x)
    strides: list[tuple[int, ...]] = []
    y.register_hook(lambda g: strides.append(g.stride()))
    (3.0 * y.sum()).backward()
    assert strides == [(0,)]
    torch.testing.assert_close(x.grad, 9 * x.detach() ** 2)


def test_a_cotangent_that_is_a_view_after_cat_is_right(cube: Enzyme) -> None:
    """`cat` sends narrow views with an offset."""
    x, z = vector(4), vector(3)
    weights = torch.randn(7, dtype=torch.float64)
    joined = torch.cat([z, cube.apply(x)])
    joined.backward(weights)
    torch.testing.assert_close(x.grad, 3 * x.detach() ** 2 * weights[3:])


@pytest.mark.parametrize("through", ["transpose", "step", "flip", "expand_rows"])
def test_a_cotangent_of_any_stride_is_right(compile_source: Compile, through: str) -> None:
    """Matrices that come back transposed, strided, reversed or broadcast."""
    cube = compile_source(CUBE, "cube", "x[m,k] -> y[m,k]", sizes={"n": 12})
    x = vector(3, 4)
    y = cube.apply(x)
    weights = torch.randn(4, 3, dtype=torch.float64)
    if through == "transpose":
        (gradient,) = torch.autograd.grad(y, x, weights.T)
        expected = weights.T
    elif through == "step":
        wide = torch.randn(3, 8, dtype=torch.float64)
        (gradient,) = torch.autograd.grad(y, x, wide[:, ::2])
        expected = wide[:, ::2]
    elif through == "flip":
        (gradient,) = torch.autograd.grad(y.flip(0), x, weights.T)
        expected = weights.T.flip(0)
    else:
        row = torch.randn(4, dtype=torch.float64)
        (gradient,) = torch.autograd.grad(y, x, row.expand(3, 4))
        expected = row.expand(3, 4)
    torch.testing.assert_close(gradient, 3 * x.detach() ** 2 * expected)


def test_an_output_that_nobody_uses_counts_as_zero(pair: Enzyme) -> None:
    """Either of two cotangents may be missing."""
    a, b = vector(4), vector(4)
    product, _ = pair.apply(a, b)
    ga, gb = torch.autograd.grad(product.sum(), (a, b))
    torch.testing.assert_close(ga, b.detach())
    torch.testing.assert_close(gb, a.detach())
    _, mixed = pair.apply(a, b)
    ga, gb = torch.autograd.grad(mixed.sum(), (a, b))
    torch.testing.assert_close(ga, 2 * a.detach())
    torch.testing.assert_close(gb, torch.cos(b.detach()))


def test_a_cotangent_with_the_negative_bit_is_right(cube: Enzyme) -> None:
    """The imaginary part of a conjugate is stored with the wrong sign and a flag."""
    x = vector(5)
    lazy = torch.randn(5, dtype=torch.complex128).conj().imag
    assert lazy.is_neg()
    (gradient,) = torch.autograd.grad(cube.apply(x), x, lazy)
    torch.testing.assert_close(gradient, 3 * x.detach() ** 2 * lazy)


def test_tensors_without_memory_are_computed_or_refused(run_python: RunPython, write: Write) -> None:
    """Lazy zeros are made real, fake and meta tensors give their like; in a child process, which must survive."""
    child = run_python(f"""
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from ffgrad.torch import enzyme
cube = enzyme({str(write(CUBE))!r}, "cube")
x = torch.ones(5, dtype=torch.float64, requires_grad=True)
zeros = torch._efficientzerotensor(5, dtype=torch.float64)
gradient, = torch.autograd.grad(cube.apply(x), x, zeros)
assert gradient.tolist() == [0.0] * 5
assert cube.apply(zeros).tolist() == [0.0] * 5
with FakeTensorMode():
    y = cube.apply(torch.ones(5, dtype=torch.float64))
print(type(y).__name__, tuple(y.shape), y.dtype)
y = cube.apply(torch.ones(5, dtype=torch.float64, device="meta"))
print(y.device, tuple(y.shape), y.dtype)
""")
    assert child.stdout.split("\n")[:2] == ["FakeTensor (5,) torch.float64", "meta (5,) torch.float64"]


# --- which inputs -------------------------------------------------------------------------------------


def test_an_empty_tensor_has_an_empty_gradient(cube: Enzyme) -> None:
    """Its gradient is empty too."""
    x = vector(0)
    y = cube.apply(x)
    y.sum().backward()
    assert y.shape == (0,) and x.grad is not None and x.grad.shape == (0,)


def test_an_input_that_is_not_contiguous_is_copied_once_and_counted(cube: Enzyme) -> None:
    """Forward copies it once; the bytes show."""
    whole = vector(12)
    x = whole[::3]
    cube.apply(vector(4))  # built and checked
    before = ffgrad.copies()["gathered"]
    with torch.no_grad():
        y = cube.apply(x)
    assert ffgrad.copies()["gathered"] - before == 4 * 8
    torch.testing.assert_close(y, x.detach() ** 3)
    cube.apply(x).sum().backward()
    expected = torch.zeros(12, dtype=torch.float64)
    expected[::3] = 3 * whole.detach()[::3] ** 2
    torch.testing.assert_close(whole.grad, expected)


def test_an_input_with_the_negative_bit_is_right(cube: Enzyme) -> None:
    """What torch computes lazily is computed before the call."""
    lazy = torch.randn(5, dtype=torch.complex128).conj().imag
    assert lazy.is_neg()
    torch.testing.assert_close(cube.apply(lazy), lazy**3)


def test_an_input_expanded_from_one_number_is_right(cube: Enzyme) -> None:
    """Stride 0, and the gradient is summed by torch."""
    one = torch.tensor([1.5], dtype=torch.float64, requires_grad=True)
    cube.apply(one.expand(4)).sum().backward()
    torch.testing.assert_close(one.grad, torch.tensor([4 * 3 * 1.5**2], dtype=torch.float64))


def test_shapes_may_change_from_call_to_call(pair: Enzyme) -> None:
    """More sets of shapes than the driver remembers, in any order; inputs that do not fit are refused, after others that do."""
    for n in (3, 5, 3, 1, 0, 7, 2, 3, 9, 5, 0):
        a, b = vector(n), vector(n)
        product, mixed = pair.apply(a, b)
        torch.testing.assert_close(mixed, a**2 + torch.sin(b))
        gradient, _ = torch.autograd.grad(product.sum() + mixed.sum(), (a, b))
        torch.testing.assert_close(gradient, b + 2 * a)
        for wrong in ((vector(n), vector(n + 1)), (vector(n, 1), vector(n))):
            with pytest.raises(ffgrad.ShapeError):
                pair.apply(*wrong)
        with pytest.raises(ffgrad.DtypeError):
            pair.apply(a.float(), b)


# --- modes --------------------------------------------------------------------------------------------


def test_without_grad_mode_no_graph_is_made(cube: Enzyme) -> None:
    """Though the input requires a gradient."""
    x = vector(3)
    with torch.no_grad():
        y = cube.apply(x)
    assert not y.requires_grad and y.grad_fn is None
    torch.testing.assert_close(y, x.detach() ** 3)


def test_without_grad_mode_no_derivative_is_built(cache: Path, compile_source: Compile) -> None:
    """A derivative that is not requested costs nothing."""
    cube = compile_source(CUBE, "cube")
    with torch.no_grad():
        cube.apply(vector(3))
    cube.apply(vector(3, grad=False))
    assert built_masks(cube, cache) == set()


def test_inference_mode_works(cube: Enzyme) -> None:
    """Inference tensors in, inference tensors out."""
    with torch.inference_mode():
        x = torch.randn(3, dtype=torch.float64)
        y = cube.apply(x)
        torch.testing.assert_close(y, x**3)
        assert y.is_inference()


def test_inputs_without_gradient_give_outputs_without_gradient(cube: Enzyme) -> None:
    """As every torch operation does."""
    assert not cube.apply(vector(3, grad=False)).requires_grad


def test_integer_outputs_take_no_part_in_autograd(compile_source: Compile) -> None:
    """They are marked as not differentiable."""
    source = "void f(const double* x, int n, double* y, long* positive) {\n"
    source += "  *positive = 0;\n  for (int i = 0; i < n; i++) { y[i] = x[i] * x[i]; *positive += x[i] > 0; }\n}\n"
    f = compile_source(source, "f", "x[n] -> y[n], positive[1]")
    x = vector(6)
    y, positive = f.apply(x)
    assert y.requires_grad and not positive.requires_grad
    assert positive.item() == (x > 0).sum().item()
    y.sum().backward()
    torch.testing.assert_close(x.grad, 2 * x.detach())


def test_a_retained_graph_gives_the_same_gradient_again(cube: Enzyme) -> None:
    """Nothing is consumed by the first pass."""
    x = vector(4)
    y = cube.apply(x).sum()
    first = torch.autograd.grad(y, x, retain_graph=True)[0]
    second = torch.autograd.grad(y, x, retain_graph=True)[0]
    assert torch.equal(first, second)


def test_a_freed_graph_is_torchs_own_error(cube: Enzyme) -> None:
    """A second backward without retain_graph."""
    y = cube.apply(vector(4)).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_a_penalty_on_the_gradient_lacks_no_term(cube: Enzyme, weighted: bool) -> None:
    """d/dx of sum(x) + sum((3 w x^2)^2), whether or not the cotangent w requires a gradient."""
    x = vector(4)
    weights = vector(4, grad=weighted)
    (gradient,) = torch.autograd.grad(cube.apply(x), x, weights, create_graph=True)
    penalised = x.sum() + gradient.square().sum()
    penalised.backward()
    torch.testing.assert_close(x.grad, (1 + 36 * weights**2 * x**3).detach())
    if weighted:
        torch.testing.assert_close(weights.grad, (18 * weights * x**4).detach())


def test_second_derivatives_pass_gradgradcheck(pair: Enzyme, decay: Enzyme) -> None:
    """Two inputs and two outputs; scalars by value."""
    assert torch.autograd.gradgradcheck(pair.apply, (vector(3), vector(3)))
    t = vector(3, grad=False)
    scalars = (torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in (1.5, 0.4))
    assert torch.autograd.gradgradcheck(lambda a, r: decay.apply(t, a, r), tuple(scalars))


def test_a_third_derivative_is_right_or_refused(cube: Enzyme) -> None:
    """Never a gradient that silently lacks a term."""
    x = vector(4)
    (first,) = torch.autograd.grad(cube.apply(x).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x, create_graph=True)
    penalised = x.sum() + second.square().sum()
    try:
        penalised.backward()
    except ffgrad.DifferentiationError as error:
        assert "third derivatives of `cube` are not available" in str(error)
    else:
        torch.testing.assert_close(x.grad, (1 + 72 * x).detach())


def test_a_saved_tensor_that_was_changed_is_torchs_version_error(cube: Enzyme) -> None:
    """The gradient would be that at another point."""
    x = vector(4)
    moving = x * 1.0
    y = cube.apply(moving)
    moving.add_(1.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_an_in_place_argument_leaves_the_callers_tensor(compile_source: Compile) -> None:
    """The foreign code overwrites; the operation is functional."""
    source = "void decay(double* u, double dt, int n) { for (int i = 0; i < n; i++) u[i] -= dt * u[i] * u[i]; }\n"
    step = compile_source(source, "decay", "u[n], dt -> u[n]")
    u = vector(5)
    before = u.detach().clone()
    v = step.apply(u, 0.1)
    assert torch.equal(u.detach(), before) and v.data_ptr() != u.data_ptr()
    v.sum().backward()
    assert torch.equal(u.detach(), before)
    torch.testing.assert_close(u.grad, 1 - 0.2 * before)


def test_forward_mode_takes_tangents_of_some_inputs(pair: Enzyme) -> None:
    """One dual input, one plain."""
    a, b, t = vector(4, grad=False), vector(4, grad=False), vector(4, grad=False)
    with forward_ad.dual_level():
        product, mixed = pair.apply(a, forward_ad.make_dual(b, t))
        torch.testing.assert_close(forward_ad.unpack_dual(product).tangent, a * t)
        torch.testing.assert_close(forward_ad.unpack_dual(mixed).tangent, torch.cos(b) * t)


def test_forward_mode_takes_tangents_of_any_stride(cube: Enzyme) -> None:
    """Expanded and transposed tangents as well."""
    x = vector(4, grad=False)
    with forward_ad.dual_level():
        y = cube.apply(forward_ad.make_dual(x, torch.ones(1, dtype=torch.float64).expand(4)))
        torch.testing.assert_close(forward_ad.unpack_dual(y).tangent, 3 * x**2)


def test_a_training_loop_finds_the_parameters(decay: Enzyme) -> None:
    """Adam on two scalars, one native operation in the loss."""
    t = torch.linspace(0, 3, 40, dtype=torch.float64)
    data = 2.5 * torch.exp(-0.7 * t)
    amplitude = torch.nn.Parameter(torch.tensor(1.0, dtype=torch.float64))
    rate = torch.nn.Parameter(torch.tensor(0.1, dtype=torch.float64))
    adam = torch.optim.Adam([amplitude, rate], lr=0.05)
    for _ in range(500):
        adam.zero_grad()
        (decay.apply(t, amplitude, rate) - data).square().mean().backward()
        adam.step()
    assert amplitude.item() == pytest.approx(2.5, abs=1e-2)
    assert rate.item() == pytest.approx(0.7, abs=1e-2)
