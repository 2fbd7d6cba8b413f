"""Loops over steps (``repeat``) in PyTorch: every way to differentiate, with the same bits; the conformance table has the rest."""

from __future__ import annotations

from pathlib import Path

import ffgrad
import pytest
import torch
from ffgrad.torch import Enzyme, enzyme
from support.fixtures import Write
from torch._subclasses.fake_tensor import FakeTensorMode

HEAT = Path(__file__).parents[1] / "cases" / "loops" / "repeat_heat.c"
SIGNATURE = "u[n], k[n], q[t,n] -> u[n], energy[t]"

Tensors = tuple[torch.Tensor, ...]


@pytest.fixture
def heat() -> Enzyme:
    """The loop with few snapshots."""
    return enzyme(HEAT, "step", SIGNATURE, repeat="t", snapshots=3)


@pytest.fixture
def inputs() -> Tensors:
    """For thirty steps."""
    torch.manual_seed(0)
    u, q = torch.randn(8, dtype=torch.float64), torch.randn(30, 8, dtype=torch.float64)
    return tuple(x.requires_grad_() for x in (u, torch.full_like(u, 0.2), q))


def loss_of(op: Enzyme) -> object:
    """One number of both outputs."""

    def loss(*inputs: torch.Tensor) -> torch.Tensor:
        u, energy = op(*inputs)
        return u.square().sum() + (energy * torch.arange(len(energy))).sum()

    return loss


def test_every_way_to_the_gradient_gives_the_same_bits(heat: Enzyme, inputs: Tensors) -> None:
    """Eager, ``torch.func``, compiled, and with every state kept."""
    loss = loss_of(heat)
    eager = torch.autograd.grad(loss(*inputs), inputs)
    functional = torch.func.grad(loss, argnums=(0, 1, 2))(*inputs)
    compiled = torch.autograd.grad(torch.compile(loss, fullgraph=True)(*inputs), inputs)
    every = loss_of(enzyme(HEAT, "step", SIGNATURE, repeat="t", snapshots=30))
    kept = torch.autograd.grad(every(*inputs), inputs)
    for other in (functional, compiled, kept):
        assert all(torch.equal(a, b) for a, b in zip(eager, other, strict=True))


def test_second_derivatives_and_batches(heat: Enzyme, inputs: Tensors) -> None:
    """Against finite differences, and against one element after the other."""
    few = (inputs[0], inputs[1], inputs[2][:4].detach().requires_grad_())
    assert torch.autograd.gradcheck(heat, few) and torch.autograd.gradgradcheck(heat, few)
    loss = loss_of(heat)
    hessian = torch.func.hessian(loss)(*few)
    assert torch.allclose(hessian, hessian.T, rtol=1e-10)
    batch = torch.randn(3, 8, dtype=torch.float64)
    mapped = torch.func.vmap(torch.func.grad(loss), in_dims=(0, None, None))(batch, *few[1:])
    for own, u in zip(mapped, batch, strict=True):
        assert torch.equal(own, torch.func.grad(loss)(u, *few[1:]))


def test_the_number_of_steps_as_an_input(inputs: Tensors) -> None:
    """Eager and compiled."""
    op = enzyme(HEAT, "step", "u[n], t, k[n], const q[n] -> u[n]; energy[1]", repeat="t", snapshots=2)
    u, k, q = inputs[0], inputs[1], inputs[2][0].detach()

    def run(u: torch.Tensor) -> torch.Tensor:
        return op(u, 7, k, q).sum()

    (eager,) = torch.autograd.grad(run(u), u)
    (compiled,) = torch.autograd.grad(torch.compile(run, fullgraph=True)(u), u)
    assert torch.equal(eager, compiled)


def test_tapes_are_not_kept(inputs: Tensors) -> None:
    """A tape of each step would be all that snapshots save."""
    op = enzyme(HEAT, "step", SIGNATURE, repeat="t", snapshots=3, mode="tape")
    plain = enzyme(HEAT, "step", SIGNATURE, repeat="t", snapshots=3)
    gradients = [torch.autograd.grad(loss_of(f)(*inputs), inputs) for f in (op, plain)]
    assert all(torch.equal(a, b) for a, b in zip(*gradients, strict=True))


def test_tensors_on_a_gpu_are_refused_by_name(heat: Enzyme) -> None:
    """The loop over a kernel is, too."""
    with FakeTensorMode(allow_non_fake_inputs=True):
        u = torch.empty(8, dtype=torch.float64, device="cuda")
        with pytest.raises(
            ffgrad.DeviceError, match=r"`u` is on cuda:0, and the loop over steps of `step` runs on the"
        ):
            heat(u, u, u)


LOCALS = """\
#include <math.h>
#include <ffgrad/derivatives.h>
void run(const double *start, const double *c, int n, int steps, double *end) {
  double u[32], k[32];
  for (int i = 0; i < n; i++) u[i] = start[i];
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < n; i++) k[i] = c[i] * (round + 1) + 0.1 * u[i];
    FFGRAD_CHECKPOINT(3);
    for (int s = 0; s < steps; s++)
      for (int i = 0; i < n; i++) u[i] = 0.9 * u[i] + 0.1 * sin(k[i] * u[(i + 1) % n]);
  }
  for (int i = 0; i < n; i++) end[i] = u[i];
}
"""


def test_a_tape_holds_no_address_of_the_stack(write: Write) -> None:
    """A loop inside the function over local arrays: between the sweeps other calls use the stack."""
    source = write(LOCALS)
    torch.manual_seed(1)
    start, c = (torch.rand(24, dtype=torch.float64, requires_grad=True) for _ in range(2))
    signature = "start[n], c[n], steps -> end[n]"
    expected = torch.autograd.grad(enzyme(source, "run", signature)(start, c, 40).sum(), (start, c))
    taped = enzyme(source, "run", signature, mode="tape")
    first, second = taped(start, c, 40), taped(2 * start, c, 30)
    other = torch.autograd.grad(second.sum(), (start, c))
    torch.linalg.inv(torch.rand(50, 50))
    ours = torch.autograd.grad(first.sum(), (start, c))
    assert all(torch.allclose(a, b, rtol=1e-12, atol=0) for a, b in zip(ours, expected, strict=True))
    assert not any(torch.equal(a, b) for a, b in zip(ours, other, strict=True))
    last = taped.checkpointing()
    assert last is not None and (last["steps"], last["snapshots"]) == (40, 3)


def test_second_derivatives_take_the_loop_as_it_stands(write: Write) -> None:
    """Against differences of the first."""
    f = enzyme(write(LOCALS), "run", "start[n], c[n], steps -> end[n]")
    torch.manual_seed(2)
    given = tuple(torch.rand(3, dtype=torch.float64, requires_grad=True) for _ in range(2))
    assert torch.autograd.gradcheck(lambda a, b: f(a, b, 5), given)
    assert torch.autograd.gradgradcheck(lambda a, b: f(a, b, 5), given)
