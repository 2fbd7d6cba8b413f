"""Calls as PyTorch's users make them: by the parameter's name, under autocast, on tensors without data, under a profiler."""

from __future__ import annotations

import ffgrad
import pytest
import torch
from ffgrad.torch import Enzyme, EnzymeModule, enzyme
from support.fixtures import Write
from support.programs import CUBE, DECAY, DECAY_SIGNATURE
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.func import grad, vmap

X = torch.linspace(-1, 1, 6, dtype=torch.float64)
SINGLE = "void square(const float* x, int n, float* y) { for (int i = 0; i < n; i++) y[i] = x[i] * x[i]; }"


@pytest.fixture
def square(write: Write) -> Enzyme:
    """A function in single precision."""
    return enzyme(write(SINGLE), "square", "x[n] -> y[n]")


@pytest.fixture
def layer() -> torch.nn.Linear:
    """What runs in bfloat16 under autocast."""
    torch.manual_seed(0)
    return torch.nn.Linear(3, 3)


# --- names --------------------------------------------------------------------------------------------


def test_inputs_are_given_by_name_in_any_order(write: Write) -> None:
    f = enzyme(write(DECAY), "decay", DECAY_SIGNATURE)
    rate = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
    expected = f(X, 2.0, rate)
    for y in (f(rate=rate, t=X, amplitude=2.0), f(X, rate=rate, amplitude=2.0), f.apply(X, 2.0, rate=rate)):
        torch.testing.assert_close(y, expected, rtol=0, atol=0)
    (gradient,) = torch.autograd.grad(f(rate=rate, amplitude=2.0, t=X).sum(), rate)
    torch.testing.assert_close(gradient, (-2.0 * X * torch.exp(-0.5 * X)).sum())
    compiled = torch.compile(lambda t: f(amplitude=2.0, rate=0.5, t=t), fullgraph=True)
    torch.testing.assert_close(compiled(X), expected)


@pytest.mark.parametrize(
    ("inputs", "named", "words"),
    [
        ((), {"x": 1}, "there is no input `x`; `t` is missing; `amplitude` is missing; `rate` is missing"),
        ((X, 2.0), {"t": X}, "`t` is given twice; `rate` is missing"),
        ((X, 1.0, 2.0, 3.0), {"rate": 1.0}, "`rate` is given twice; 4 are given without a name"),
    ],
)
def test_wrong_names_are_refused_all_at_once(
    inputs: tuple[object, ...], named: dict[str, object], words: str, write: Write
) -> None:
    f = enzyme(write(DECAY), "decay", DECAY_SIGNATURE)
    with pytest.raises(ffgrad.SignatureError) as caught:
        f(*inputs, **named)
    assert str(caught.value) == f"`decay` takes 3 inputs: {words}\n  Its inputs are: t, amplitude, rate."
    assert caught.value.code == "arity"


# --- autocast -----------------------------------------------------------------------------------------


def test_autocast_converts_to_the_type_of_the_parameter(write: Write, square: Enzyme, layer: torch.nn.Linear) -> None:
    """As custom_fwd does: outputs have the function's own types, and the gradient takes the way back."""
    cube = enzyme(write(CUBE), "cube")
    with torch.autocast("cpu", dtype=torch.bfloat16):
        h = layer(torch.ones(2, 3)).reshape(-1)
        y, z, w = square(h), cube(h), cube(torch.full((2,), 0.5))
    assert (h.dtype, y.dtype, z.dtype) == (torch.bfloat16, torch.float32, torch.float64)
    torch.testing.assert_close(y, h.float() ** 2)
    torch.testing.assert_close(z, h.double() ** 3)
    torch.testing.assert_close(w, torch.full((2,), 0.125).double())
    (gradient,) = torch.autograd.grad(y.sum(), h, retain_graph=True)
    torch.testing.assert_close(gradient, (2 * h.detach().float()).bfloat16())
    (z.sum() + y.sum()).backward()
    assert layer.weight.grad is not None and layer.weight.grad.dtype == torch.float32


def test_autocast_converts_inside_of_transforms_and_of_compile(square: Enzyme, layer: torch.nn.Linear) -> None:
    @torch.compile(fullgraph=True)
    def step(x: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return square(layer(x).reshape(-1)).sum()

    step(torch.ones(2, 3)).backward()
    compiled = layer.weight.grad
    layer.zero_grad()
    x = torch.ones(2, 3)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        square(layer(x).reshape(-1)).sum().backward()
        half = torch.tensor([0.5, 2.0]).bfloat16()
        torch.testing.assert_close(grad(lambda h: square(h).sum())(half), 2 * half)
        assert vmap(square)(half[:, None]).dtype == torch.float32
    assert compiled is not None
    torch.testing.assert_close(compiled, layer.weight.grad)


def test_autocast_never_shortens(square: Enzyme) -> None:
    """A double for a parameter in single precision is refused as elsewhere."""
    with torch.autocast("cpu", dtype=torch.bfloat16), pytest.raises(ffgrad.DtypeError, match="found    float64"):
        square(X)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_without_autocast_short_types_are_refused_with_the_way_out(dtype: torch.dtype, square: Enzyme) -> None:
    with torch.autocast("cpu", enabled=False), pytest.raises(ffgrad.DtypeError) as caught:
        square(torch.ones(3, dtype=dtype))
    assert "Convert the input before the call, x.float(), or call inside of torch.autocast" in str(caught.value)


# --- tensors without data -----------------------------------------------------------------------------


def test_of_meta_and_fake_tensors_the_shapes_are_computed(write: Write) -> None:
    """With gradients, numbers and modules, and no function is called."""
    source = write(DECAY)
    f = enzyme(source, "decay", DECAY_SIGNATURE)
    module = EnzymeModule(source, "decay", DECAY_SIGNATURE, parameters={"amplitude": 2.0, "rate": 0.5}).to("meta")
    for y in (f(X.to("meta"), 2.0, 0.5), module(X.to("meta"))):
        assert (y.device.type, y.shape, y.dtype) == ("meta", X.shape, X.dtype)
    y.sum().backward()
    assert module.rate.grad.device.type == "meta" and module.rate.grad.shape == ()
    with FakeTensorMode():
        rate = torch.empty((), dtype=torch.float64, requires_grad=True)
        f(torch.empty(6, dtype=torch.float64), 2.0, rate).sum().backward()
        assert rate.grad is not None and rate.grad.shape == ()


def test_what_does_not_fit_is_refused_without_data_too(write: Write) -> None:
    f = enzyme(write(DECAY), "decay", DECAY_SIGNATURE)
    with pytest.raises(ffgrad.DtypeError, match="`t` of `decay`: expected float64, found float32"):
        f(torch.empty(3, device="meta"), 2.0, 0.5)
    with pytest.raises(ffgrad.ShapeError, match=r"`rate` of `decay` has the shape \[3\]"):
        f(X.to("meta"), 2.0, torch.empty(3, device="meta", dtype=torch.float64))


# --- profilers ----------------------------------------------------------------------------------------


def test_profilers_show_the_name_of_the_function(square: Enzyme) -> None:
    """With and without a gradient, and in transforms."""
    x = torch.ones(3, requires_grad=True)

    def rows(run: object) -> dict[str, int]:
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
            run()  # type: ignore[operator]
        return {row.key: row.count for row in profile.key_averages() if row.key.startswith("ffgrad::")}

    assert rows(lambda: square(x).sum().backward()) == {"ffgrad::square": 1, "ffgrad::squareBackward": 1}
    assert rows(lambda: square(x.detach())) == {"ffgrad::square": 1}
    assert rows(lambda: grad(lambda x: square(x).sum())(x.detach()))["ffgrad::square"] == 1
    assert square(x).grad_fn.name() == "ffgrad::squareBackward"
