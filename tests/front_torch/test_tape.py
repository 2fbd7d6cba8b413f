"""`mode="tape"`: the forward call keeps what the gradient needs; one gradient uses it, or none."""

from __future__ import annotations

import gc
import threading
from typing import Any

import ffgrad
import pytest
import torch
from ffgrad.torch import Enzyme
from support.fixtures import Compile, RunPython, Write
from support.programs import CUBE, DECAY, DECAY_SIGNATURE, PAIR, PAIR_SIGNATURE, STEP, STEP_SIGNATURE, THROWS
from torch.autograd import gradcheck, gradgradcheck

# A time loop over memory of its own.
SIMULATION = """\
#include <math.h>
#include <stdlib.h>
void simulate(const double* x, int n, int steps, double* y) {
  double* u = malloc(n * sizeof(double));
  for (int i = 0; i < n; i++) u[i] = x[i];
  for (int k = 0; k < steps; k++)
    for (int i = 0; i < n; i++) u[i] = sin(u[i]) + x[i] * u[(i + 1) % n];
  for (int i = 0; i < n; i++) y[i] = u[i];
  free(u);
}
"""
SIMULATION_SIGNATURE = "x[n], steps -> y[n]"


def normal(*shape: int, grad: bool = True) -> torch.Tensor:
    """Normal numbers in double precision."""
    return torch.randn(shape, dtype=torch.float64, requires_grad=grad)


def tape_of(y: torch.Tensor) -> Any:
    """Return the tape that an output's graph holds."""
    return y.grad_fn.tape  # type: ignore[union-attr]


@pytest.fixture
def simulate(compile_source: Compile) -> Enzyme:
    """A time loop over a buffer, every state of which the reverse sweep needs."""
    return compile_source(SIMULATION, "simulate", SIMULATION_SIGNATURE, mode="tape")


def test_the_gradient_comes_from_the_tape(simulate: Enzyme, compile_source: Compile) -> None:
    """It is the gradient without one, and the tape is used up."""
    x = normal(7)
    y = simulate.apply(x, 5)
    assert tape_of(y).nbytes > 5 * 7 * 8
    tape = tape_of(y)
    v = torch.randn_like(y)
    (gradient,) = torch.autograd.grad(y, x, v)
    assert tape.nbytes == 0
    plain = compile_source(SIMULATION, "simulate", SIMULATION_SIGNATURE)
    expected = plain.apply(x, 5)
    torch.testing.assert_close(y, expected)
    torch.testing.assert_close(gradient, torch.autograd.grad(expected, x, v)[0], rtol=1e-12, atol=1e-12)
    assert gradcheck(lambda x: simulate.apply(x, 3), (x,))


def test_every_kind_of_argument_passes_gradcheck(compile_source: Compile) -> None:
    """Updated in place, scratch, scalars, several outputs; and second derivatives, which recompute."""
    step = compile_source(STEP, "step", STEP_SIGNATURE, mode="tape")
    inputs = (normal(4), normal(4, 4), normal())
    assert tape_of(step.apply(*inputs)[0]) is not None
    assert gradcheck(step.apply, inputs)
    assert gradgradcheck(step.apply, inputs)
    pair = compile_source(PAIR, "pair", PAIR_SIGNATURE, mode="tape")
    assert gradcheck(pair.apply, (normal(3), normal(3)))
    decay = compile_source(DECAY, "decay", DECAY_SIGNATURE, mode="tape")
    assert gradcheck(decay.apply, (normal(3, grad=False), normal(), normal()))


def test_a_second_backward_recomputes(simulate: Enzyme) -> None:
    """Under retain_graph the gradient is the same each time; the tape served the first."""
    x = normal(5)
    y = simulate.apply(x, 4)
    first = torch.autograd.grad(y.sum(), x, retain_graph=True)[0]
    assert tape_of(y).nbytes == 0
    for _ in range(3):
        again = torch.autograd.grad(y.sum(), x, retain_graph=True)[0]
        torch.testing.assert_close(again, first, rtol=1e-12, atol=1e-12)


def test_an_output_changed_afterwards_changes_no_gradient(simulate: Enzyme) -> None:
    """The reverse sweep has its own copy of what the function wrote."""
    x = normal(5)
    y = simulate.apply(x, 4)
    total = y.sum()
    with torch.no_grad():
        y.fill_(float("nan"))
    (gradient,) = torch.autograd.grad(total, x)
    torch.testing.assert_close(gradient, torch.autograd.grad(simulate.apply(x, 4).sum(), x)[0])


def test_inputs_that_moved_before_the_gradient_recompute(simulate: Enzyme) -> None:
    """Saved tensors that hooks moved away and back."""
    x = normal(5)
    expected = torch.autograd.grad(simulate.apply(x, 4).sum(), x)[0]
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t.clone()):
        y = simulate.apply(x, 4)
        (gradient,) = torch.autograd.grad(y.sum(), x)
    torch.testing.assert_close(gradient, expected, rtol=1e-12, atol=1e-12)


def test_a_changed_input_is_torchs_version_error(simulate: Enzyme) -> None:
    """As without a tape."""
    x = normal(5)
    moved = x * 1.0
    y = simulate.apply(moved, 4)
    with torch.no_grad():
        moved.add_(1.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_strided_inputs_are_kept_by_the_tape(compile_source: Compile) -> None:
    """A copy made for the call is there for the gradient too."""
    cube = compile_source(CUBE, "cube", mode="tape")
    x = normal(8)
    y = cube.apply(x[::2])
    assert tape_of(y) is not None
    (gradient,) = torch.autograd.grad(y.sum(), x)
    expected = torch.zeros(8, dtype=torch.float64)
    expected[::2] = 3 * x.detach()[::2] ** 2
    torch.testing.assert_close(gradient, expected)


def test_inputs_without_gradient_make_no_tape(simulate: Enzyme) -> None:
    """Nor does a call without grad mode."""
    x = normal(5)
    with torch.no_grad():
        assert simulate.apply(x, 2).grad_fn is None
    assert simulate.apply(x.detach(), 2).grad_fn is None


def test_a_batch_and_transforms_recompute(compile_source: Compile) -> None:
    """And are right."""
    cube = compile_source(CUBE, "cube", "x[...,n] -> y[...,n]", mode="tape")
    x = normal(3, 4)
    assert gradcheck(cube.apply, (x,))
    plain = compile_source(CUBE, "cube", "x[n] -> y[n]", mode="tape")
    gradient = torch.func.vmap(torch.func.grad(lambda x: plain.apply(x).sum()))(x.detach())
    torch.testing.assert_close(gradient, 3 * x.detach() ** 2)


def test_batched_cotangents_are_served(simulate: Enzyme, compile_source: Compile) -> None:
    """They are mapped tensors, which no foreign code can read: the operators compute all rows in one loop."""
    x, plain = normal(5), compile_source(SIMULATION, "simulate", SIMULATION_SIGNATURE)
    rows = torch.eye(5, dtype=torch.float64)
    expected = torch.autograd.grad(plain.apply(x, 3), x, rows, is_grads_batched=True)[0]
    y = simulate.apply(x, 3)
    for _ in range(2):
        (jacobian,) = torch.autograd.grad(y, x, rows, is_grads_batched=True, retain_graph=True)
        torch.testing.assert_close(jacobian, expected, rtol=1e-12, atol=1e-12)
    assert gradcheck(lambda x: simulate.apply(x, 2), (x,), check_batched_grad=True)


def test_without_an_arena_there_is_a_warning_and_no_tape(compile_source: Compile) -> None:
    """Once; the gradient is recomputed."""
    simulate = compile_source(SIMULATION, "simulate", SIMULATION_SIGNATURE, mode="tape", arena=False)
    x = normal(5)
    with pytest.warns(ffgrad.GradientWarning, match="no tape is kept for `simulate`, its gradient is recomputed"):
        y = simulate.apply(x, 2)
    assert tape_of(y) is None
    assert gradcheck(lambda x: simulate.apply(x, 2), (x,))


def test_an_exception_leaves_no_tape_behind(compile_source: Compile) -> None:
    """The next call works."""
    f = compile_source(THROWS, "positive", "x[n] -> y[n]", name="f.cpp", mode="tape")
    good, bad = (
        normal(4).detach().abs().requires_grad_(),
        torch.full((4,), -1.0, dtype=torch.float64, requires_grad=True),
    )
    f.apply(good)
    with pytest.raises(ffgrad.ForeignError, match="negative"):
        f.apply(bad)
    (gradient,) = torch.autograd.grad(f.apply(good).sum(), good)
    torch.testing.assert_close(gradient, 2 * good.detach())


def test_a_tape_outlives_its_thread_and_crosses_threads(simulate: Enzyme) -> None:
    """Forward and backward on different threads, many at once."""
    x = normal(16)
    expected = torch.autograd.grad(simulate.apply(x, 6).sum(), x)[0]
    outputs: list[torch.Tensor] = []
    gradients: list[torch.Tensor] = []

    def forward() -> None:
        outputs.append(simulate.apply(x, 6))

    def backward(y: torch.Tensor) -> None:
        gradients.append(torch.autograd.grad(y.sum(), x)[0])

    for target, arguments in ((forward, [() for _ in range(8)]), (backward, None)):
        threads = [threading.Thread(target=target, args=a) for a in (arguments or [(y,) for y in outputs])]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(gradients) == 8
    for gradient in gradients:
        torch.testing.assert_close(gradient, expected, rtol=1e-12, atol=1e-12)


def test_verify_always_checks_tapes_too(compile_source: Compile) -> None:
    """At every forward call."""
    simulate = compile_source(SIMULATION, "simulate", SIMULATION_SIGNATURE, mode="tape", verify="always")
    x = normal(5)
    for _ in range(2):
        y = simulate.apply(x, 3)
        assert tape_of(y) is not None
        y.sum().backward()


def test_the_same_artifact_serves_the_next_process(cache: Any, run_python: RunPython, write: Write) -> None:
    """Built once, kept as proven; the key is that of the function without a tape."""
    code = f"""
import torch, time
from ffgrad.torch import enzyme
f = enzyme({str(write(CUBE))!r}, "cube", mode="tape")
x = torch.ones(3, dtype=torch.float64, requires_grad=True)
y = f.apply(x)
assert y.grad_fn.tape.nbytes > 0
y.sum().backward()
assert x.grad.tolist() == [3.0] * 3
print(f.manifest["key"])
"""
    first = run_python(code).stdout
    (choice,) = cache.rglob("choice-d1t-1.json")
    before = choice.stat().st_mtime_ns
    assert run_python(code).stdout == first
    assert choice.stat().st_mtime_ns == before


def test_memory_stays_flat_whether_backward_runs_or_not(run_python: RunPython, write: Write) -> None:
    """Ten thousand forward calls, of which every third has a gradient: tapes are released in both cases."""
    run_python(f"""
import resource, torch
from ffgrad.torch import enzyme
f = enzyme({str(write(SIMULATION))!r}, "simulate", "x[n], steps -> y[n]", mode="tape")
x = torch.randn(200, dtype=torch.float64, requires_grad=True)

def run(count):
    for i in range(count):
        y = f.apply(x, 20)
        if i % 3 == 0:
            y.sum().backward()
            x.grad = None

run(500)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
run(10_000)
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
assert grown < 4096, f"grown by {{grown}} KiB"
""")


def test_many_tapes_at_once_are_right(simulate: Enzyme) -> None:
    """More than are kept for reuse, used in another order than made."""
    xs = [normal(6) for _ in range(20)]
    ys = [simulate.apply(x, 5) for x in xs]
    for x, y in reversed(list(zip(xs, ys, strict=True))):
        (gradient,) = torch.autograd.grad(y.sum(), x)
        torch.testing.assert_close(
            gradient, torch.autograd.grad(simulate.apply(x, 5).sum(), x)[0], rtol=1e-12, atol=1e-12
        )
    del ys
    gc.collect()


def test_an_unknown_mode_is_refused(compile_source: Compile) -> None:
    """With the modes there are."""
    with pytest.raises(TypeError, match="recompute"):
        compile_source(CUBE, "cube", mode="both")
