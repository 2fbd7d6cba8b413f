"""Loops over steps (``repeat``): gradients from few snapshots against all kept, closed forms, differences and the forward mode."""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from pathlib import Path
from typing import Any

import ffgrad
import numpy as np
import pytest
from ffgrad.errors import DeviceError, DifferentiationError, ForeignError, OutOfMemoryError, SignatureError
from ffgrad.numpy import Enzyme, enzyme
from support.fixtures import RunPython, Write

# A nonlinear stencil with a source that differs from step to step, and the energy of each step.
HEAT = """\
#include <math.h>
void step(double* u, const double* k, const double* q, double* energy, int n) {
  double before = u[0];
  for (int i = 1; i + 1 < n; i++) {
    double here = u[i];
    u[i] = here + k[i] * (before - 2 * here + u[i + 1]) + 0.01 * sin(here) * q[i];
    before = here;
  }
  *energy = 0;
  for (int i = 0; i < n; i++) *energy += u[i] * u[i];
}
"""
SIGNATURE = "u[n], k[n], q[t,n] -> u[n], energy[t]"

# Nothing but the state, and no chaos.
ROTATE = """\
#include <math.h>
void rotate(double* u, int n) {
  double first = u[0];
  for (int i = 0; i + 1 < n; i++) u[i] += 0.1 * (sin(u[i + 1]) - u[i]);
  u[n - 1] += 0.1 * (sin(first) - u[n - 1]);
}
"""

Arrays = tuple[np.ndarray, ...]


def optimum(steps: int, snapshots: int) -> int:
    """Revolve's t(n, s): r n - (s + r)! / ((s + 1)! (r - 1)!), r the least number with n <= (s + r)! / (s! r!)."""
    r = next(r for r in range(steps) if steps <= comb(snapshots + r, snapshots)) if snapshots > 1 else steps - 1
    return r * steps - comb(snapshots + r, snapshots + 1) if r else 0


def arguments(steps: int, n: int = 12) -> Arrays:
    """Inputs of ``HEAT``."""
    random = np.random.default_rng(0)
    return random.normal(size=n), 0.2 + 0.05 * random.random(n), random.normal(size=(steps, n))


def like(arrays: Arrays, seed: int) -> Arrays:
    """Normal numbers of the same shapes."""
    random = np.random.default_rng(seed)
    return tuple(random.normal(size=a.shape) for a in arrays)


def pulled(op: Enzyme, inputs: Any, cotangents: Any) -> Any:
    """Gradients."""
    return op.vjp(*inputs)[1](cotangents)


def dot(a: Any, b: Any) -> float:
    """The scalar product over arrays."""
    return float(sum((x * y).sum() for x, y in zip(a, b, strict=True)))


@pytest.fixture
def heat(write: Write) -> Callable[..., Enzyme]:
    """Opens ``HEAT`` with options."""
    source = write(HEAT)
    return lambda signature=SIGNATURE, repeat="t", **options: enzyme(
        source, "step", signature, **({"repeat": repeat} if repeat else {}), **options
    )


# --- schedules --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("snapshots", [1, 2, 5, 20, 100])
@pytest.mark.parametrize("steps", [10, 100, 1000, 10_000])
def test_gradients_are_those_with_every_state_kept_at_the_proven_cost(write: Write, steps: int, snapshots: int) -> None:
    """Bit for bit, with revolve's optimal number of forward steps, in the memory of so many states and two."""
    source, n = write(ROTATE), 64
    u = np.random.default_rng(0).normal(size=n)
    few, all_ = (
        enzyme(source, "rotate", "u[n] -> u[n]", repeat="t", sizes={"t": steps}, snapshots=s)
        for s in (snapshots, steps)
    )
    weights = np.random.default_rng(1).normal(size=n)
    assert np.array_equal(pulled(few, [u], weights)[0], pulled(all_, [u], weights)[0])
    done, kept = few.checkpointing(), all_.checkpointing()
    assert done is not None and kept is not None
    held = min(snapshots, steps - 1)
    assert (done["steps"], done["snapshots"]) == (steps, held)
    assert done["forward"] == optimum(steps, held) and kept["forward"] == steps - 1
    assert done["recomputed"] == done["forward"] - (steps - 1)
    assert done["state_bytes"] == 8 * n
    assert done["peak_bytes"] == pytest.approx((held + 2) * 8 * n, rel=0.05)


def test_periodic_snapshots_give_the_same_bits_and_run_each_step_at_most_twice(heat: Callable[..., Enzyme]) -> None:
    """With the fewest that do, and refused with fewer."""
    inputs = arguments(100)
    cotangents = like((inputs[0], np.zeros(100)), 1)
    expected = pulled(heat(snapshots=3), inputs, cotangents)
    op = heat(snapshots=18, schedule="periodic")
    for got, wanted in zip(pulled(op, inputs, cotangents), expected, strict=True):
        assert np.array_equal(got, wanted)
    done = op.checkpointing()
    assert done is not None and done["forward"] < 200
    with pytest.raises(SignatureError, match=r"periodic schedule for 100 steps of `step` needs 18 snapshots, 5 are"):
        pulled(heat(snapshots=5, schedule="periodic"), inputs, cotangents)


def test_snapshots_follow_from_a_size_in_bytes(heat: Callable[..., Enzyme]) -> None:
    """A state of 12 numbers takes two cache lines."""
    inputs = arguments(50)
    cotangents = like((inputs[0], np.zeros(50)), 1)
    op = heat(memory="1K")
    assert op.checkpointing() is None
    pulled(op, inputs, cotangents)
    done = op.checkpointing()
    assert done is not None and (done["snapshots"], done["state_bytes"]) == (8, 128)


def test_more_memory_than_there_is_is_an_error_before_the_sweep(write: Write) -> None:
    """With what fits, in words."""
    source = write("void first(double* u, int n) { u[0] = 0.5 * u[0] * u[0]; }\n")
    op = enzyme(source, "first", "u[n] -> u[n]", repeat="t", sizes={"t": 10**6}, snapshots=10**6)
    u = np.ones(10**6)
    with pytest.raises(OutOfMemoryError, match=r"999999 snapshots of the state of `first`, .* are free") as error:
        pulled(op, [u], u)
    assert error.value.code == "derivative-out-of-memory"


def test_snapshots_on_the_disk_give_the_same_bits_and_leave_no_file(
    heat: Callable[..., Enzyme], tmp_path: Path
) -> None:
    """Also of second derivatives; those beyond ``memory`` are there."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    inputs = arguments(60)
    tangents, cotangents = like(inputs, 2), like((inputs[0], np.zeros(60)), 1)
    plain, op = heat(snapshots=9), heat(snapshots=9, memory="512", snapshot_dir=folder)
    for a, b in zip(pulled(op, inputs, cotangents), pulled(plain, inputs, cotangents), strict=True):
        assert np.array_equal(a, b)
    done = op.checkpointing()
    assert done is not None and (done["snapshots"], done["on_disk"]) == (9, 5)
    for a, b in zip(op.hvp(inputs, tangents, cotangents), plain.hvp(inputs, tangents, cotangents), strict=True):
        assert np.array_equal(a, b)
    assert not list(folder.iterdir())


def test_a_killed_process_leaves_no_snapshots(write: Write, tmp_path: Path, run_python: RunPython) -> None:
    """While they are on the disk."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    source = write(ROTATE)
    died = run_python(
        f"""
import numpy as np, os, signal, threading, time
from ffgrad.numpy import enzyme
op = enzyme({str(source)!r}, "rotate", "u[n] -> u[n]", repeat="t", sizes={{"t": 100000}}, snapshots=2, memory="1", verify="off",
            snapshot_dir={str(folder)!r})
values, pull = op.vjp(np.ones(64))
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGKILL)).start()
pull(np.ones(64))
time.sleep(60)
""",
        check=False,
    )
    assert died.returncode == -9, died.stderr
    assert not list(folder.iterdir())


def test_a_folder_that_cannot_be_used_is_an_error(heat: Callable[..., Enzyme], tmp_path: Path) -> None:
    """Of its own code."""
    inputs = arguments(60)
    with pytest.raises(SignatureError, match=r"snapshot_dir=.*none. is no folder"):
        heat(snapshots=9, memory="1", snapshot_dir=tmp_path / "none")
    folder = tmp_path / "gone"
    folder.mkdir()
    op = heat(snapshots=9, memory="1", snapshot_dir=folder)
    folder.rmdir()
    with pytest.raises(DifferentiationError, match="snapshots of `step` cannot be written to the folder") as error:
        pulled(op, inputs, (inputs[0], np.zeros(60)))
    assert error.value.code == "snapshot-disk"


def test_results_beyond_memory_are_named_with_their_size(heat: Callable[..., Enzyme]) -> None:
    """Such as room for the most steps of a loop that a step ends."""
    signature = "u[n], k[n], q[n] -> u[n], energy[t]"
    op = heat(signature, sizes={"t": 10**13})
    u, k, q = arguments(1)
    with pytest.raises(
        OutOfMemoryError, match=r"`energy` of `step` has room for 10000000000000 steps: .* GiB"
    ) as error:
        op(u, k, q[0])
    assert error.value.code == "derivative-out-of-memory"


def test_a_suggestion_for_a_loop_has_no_signature_of_a_step(heat: Callable[..., Enzyme]) -> None:
    """It would not be one of the loop."""
    with pytest.raises(SignatureError) as error:
        heat("u[n], k[n], q[t,n] -> u[n], enrgy[t]")
    assert "Maybe" not in str(error.value) and "u[n], k[n], q[n], energy" not in str(error.value)


# --- values and derivatives -------------------------------------------------------------------------------


def test_values_are_those_of_the_step_called_in_a_loop(heat: Callable[..., Enzyme]) -> None:
    """Bit for bit, and the gradients too, but for the order of sums."""
    inputs = arguments(30)
    u, k, q = inputs
    one = heat("u[n], k[n], q[n] -> u[n], energy", repeat="")
    states, energies = [u], []
    for row in q:
        state, energy = one(states[-1], k, row)
        states.append(state)
        energies.append(energy)
    op = heat(snapshots=4)
    last, energy = op(*inputs)
    assert np.array_equal(last, states[-1]) and np.array_equal(energy, energies)
    cotangents = like((u, energy), 1)
    carried, summed, rows = cotangents[0], np.zeros_like(k), np.zeros_like(q)
    for at in reversed(range(30)):
        carried, gk, rows[at] = one.vjp(states[at], k, q[at])[1]((carried, cotangents[1][at]))
        summed += gk
    got = pulled(op, inputs, cotangents)
    assert np.array_equal(got[0], carried) and np.array_equal(got[2], rows)
    np.testing.assert_allclose(got[1], summed, rtol=1e-13, atol=1e-13)


def test_forward_mode_is_the_difference_and_adjoint_to_the_gradient(heat: Callable[..., Enzyme]) -> None:
    """Tangents are carried."""
    inputs = arguments(20)
    op = heat(snapshots=3)
    tangents = like(inputs, 2)
    values, forward = op.jvp(inputs, tangents)
    plus, minus = (op(*(x + s * t for x, t in zip(inputs, tangents, strict=True))) for s in (1e-6, -1e-6))
    for a, b, derivative in zip(plus, minus, forward, strict=True):
        np.testing.assert_allclose((a - b) / 2e-6, derivative, rtol=1e-6, atol=1e-7)
    cotangents = like(values, 3)
    assert dot(pulled(op, inputs, cotangents), tangents) == pytest.approx(dot(forward, cotangents), rel=1e-12)


def test_second_derivatives_are_differences_of_gradients_whatever_the_snapshots(heat: Callable[..., Enzyme]) -> None:
    """Tangents of the state are kept beside it."""
    inputs = arguments(20)
    op = heat(snapshots=3)
    tangents, cotangents = like(inputs, 2), like((inputs[0], np.zeros(20)), 3)
    second = op.hvp(inputs, tangents, cotangents)
    done = op.checkpointing()
    assert done is not None and done["state_bytes"] == 2 * 128
    plus, minus = (
        pulled(op, [x + s * t for x, t in zip(inputs, tangents, strict=True)], cotangents) for s in (1e-6, -1e-6)
    )
    for a, b, derivative in zip(plus, minus, second, strict=True):
        np.testing.assert_allclose((a - b) / 2e-6, derivative, rtol=1e-6, atol=1e-7)
    for snapshots in (1, 2, 100):
        other = heat(snapshots=snapshots).hvp(inputs, tangents, cotangents)
        assert all(np.array_equal(a, b) for a, b in zip(other, second, strict=True))


def test_a_closed_form_and_a_step_length_of_each_step(write: Write) -> None:
    """u_n = u_0 * prod(1 - rate dt_i): a scalar by value in slices, one shared, a value that is returned."""
    source = write(
        "double decay(double* u, double rate, double dt, int n) {"
        " for (int i = 0; i < n; i++) u[i] *= 1 - rate * dt; return u[0]; }"
    )
    op = enzyme(source, "decay", "u[n], rate, dt[t] -> u[n], return[t]", repeat="t", snapshots=3)
    u, dt = np.array([1.5, -2.0]), np.linspace(0.01, 0.03, 40)
    factors = 1 - 0.7 * dt
    last, first = op(u, 0.7, dt)
    np.testing.assert_allclose(last, u * factors.prod(), rtol=1e-13)
    np.testing.assert_allclose(first, u[0] * factors.cumprod(), rtol=1e-13)
    gradients = pulled(op, (u, np.array(0.7), dt), (np.ones(2), np.zeros(40)))
    np.testing.assert_allclose(gradients[0], factors.prod() * np.ones(2), rtol=1e-12)
    np.testing.assert_allclose(gradients[1], (u.sum() * factors.prod() * -dt / factors).sum(), rtol=1e-12)
    np.testing.assert_allclose(gradients[2], u.sum() * factors.prod() * -0.7 / factors, rtol=1e-12)


def test_integers_scratch_single_precision_and_slices_updated_in_place(write: Write) -> None:
    """A counter is state without a derivative; each step has its own row of ``w``, and scratch anew."""
    source = write(
        "void step(float* u, long long* count, float* w, float* work, int n) {"
        " for (int i = 0; i < n; i++) { work[i] += u[i] * w[i]; w[i] = work[i] * (float)(*count % 3); }"
        " for (int i = 0; i < n; i++) u[i] = 0.9f * u[i] + 0.1f * w[i];"
        " *count += 1; }"
    )
    signature = "u[n], count[], w[t,n] -> u[n], count[], w[t,n]; work[n]".replace("[]", "[1]")
    op = enzyme(source, "step", signature, repeat="t", snapshots=2)
    random = np.random.default_rng(0)
    u, w = random.normal(size=4).astype(np.float32), random.normal(size=(7, 4)).astype(np.float32)
    count = np.array([5], dtype=np.int64)
    last, counted, rows = op(u, count, w)
    state, expected = u.copy(), np.zeros_like(w)
    for at in range(7):
        expected[at] = state * w[at] * np.float32((5 + at) % 3)
        state = np.float32(0.9) * state + np.float32(0.1) * expected[at]
    assert counted.tolist() == [12] and np.allclose(rows, expected, rtol=1e-5) and np.allclose(last, state, rtol=1e-5)
    tangents = (random.normal(size=4).astype(np.float32), None, random.normal(size=(7, 4)).astype(np.float32))
    forward = op.jvp((u, count, w), tangents)[1]
    cotangents = (np.ones(4, np.float32), None, random.normal(size=(7, 4)).astype(np.float32))
    gradients = pulled(op, (u, count, w), cotangents)
    assert gradients[1] is None
    assert dot((gradients[0], gradients[2]), (tangents[0], tangents[2])) == pytest.approx(
        dot((forward[0], forward[2]), (cotangents[0], cotangents[2])), rel=1e-4
    )


def test_containers_of_cpp_are_carried(write: Write) -> None:
    """By the adapter of a step; the returned value is stacked."""
    source = write(
        "#include <vector>\n#include <cmath>\n"
        "double push(std::vector<double>& u, const std::vector<double>& k) { double sum = 0;\n"
        "  for (size_t i = 0; i < u.size(); i++) { u[i] += 0.1 * k[i] * std::sin(u[i]); sum += u[i]; } return sum; }\n",
        "f.cpp",
    )
    op = enzyme(source, "push", "u[n], k[n] -> u[n], return[t]", repeat="t", sizes={"t": 9}, snapshots=2)
    inputs = arguments(1)[:2]
    tangents = like(inputs, 1)
    values, forward = op.jvp(inputs, tangents)
    cotangents = like(values, 2)
    assert dot(pulled(op, inputs, cotangents), tangents) == pytest.approx(dot(forward, cotangents), rel=1e-12)
    state, slope = inputs[0].copy(), np.ones(12)
    for _ in range(9):
        slope *= 1 + 0.1 * inputs[1] * np.cos(state)
        state += 0.1 * inputs[1] * np.sin(state)
    np.testing.assert_allclose(values[0], state, rtol=1e-13)
    np.testing.assert_allclose(pulled(op, inputs, (np.ones(12), np.zeros(9)))[0], slope, rtol=1e-12)


def test_the_number_of_steps_is_a_size_an_input_or_none(heat: Callable[..., Enzyme], write: Write) -> None:
    """The same loop by ``sizes`` and by an input, and no steps at all."""
    u, k, q = arguments(5)
    by_size = heat("u[n], k[n], q[n] -> u[n], energy[t]", sizes={"t": 5})
    rotate = write(ROTATE, "rotate.c")
    by_input = enzyme(rotate, "rotate", "t, u[n] -> u[n]", repeat="t", snapshots=2)
    assert by_size(u, k, q[0])[1].shape == (5,)
    fixed = enzyme(rotate, "rotate", "u[n] -> u[n]", repeat="t", sizes={"t": 5})
    assert np.array_equal(by_input(5, u), fixed(u))
    assert np.array_equal(by_input(np.array(5), u), fixed(u))
    assert np.array_equal(pulled(by_input, (5, u), np.ones(12))[1], pulled(fixed, [u], np.ones(12))[0])
    assert pulled(by_input, (5, u), np.ones(12))[0] is None
    assert np.array_equal(by_input(0, u), u) and np.array_equal(by_input.jvp((0, u), (None, k))[1], k)
    with pytest.raises(SignatureError, match="the number of steps of `rotate`, is -1"):
        by_input(-1, u)
    op = heat()
    none = pulled(op, (u, k, q[:0]), (u, np.zeros(0)))
    assert np.array_equal(none[0], u) and not none[1].any() and none[2].shape == (0, 12)


def test_each_element_of_a_batch_runs_its_own_loop(heat: Callable[..., Enzyme]) -> None:
    """Shared inputs sum over elements and steps, with the same numbers on threads."""
    signature = "u[...,n], k[n], q[...,t,n] -> u[...,n], energy[...,t]"
    random = np.random.default_rng(0)
    _, k, _ = arguments(9)
    u, q = random.normal(size=(2, 3, 12)), random.normal(size=(3, 9, 12))
    one, batch = heat(snapshots=2), heat(signature, snapshots=2)
    threads = heat(signature, snapshots=2, threads=2)
    values = batch(u, k, q)
    assert values[1].shape == (2, 3, 9)
    cotangents = like(values, 1)
    got = pulled(batch, (u, k, q), cotangents)
    summed, rows = np.zeros_like(k), np.zeros_like(q)
    for at in np.ndindex(2, 3):
        own = pulled(one, (u[at], k, q[at[1]]), (cotangents[0][at], cotangents[1][at]))
        assert np.array_equal(values[0][at], one(u[at], k, q[at[1]])[0]) and np.array_equal(got[0][at], own[0])
        summed += own[1]
        rows[at[1]] += own[2]
    np.testing.assert_allclose(got[1], summed, rtol=1e-12)
    np.testing.assert_allclose(got[2], rows, rtol=1e-12)
    for a, b in zip(pulled(threads, (u, k, q), cotangents), got, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_chaos_warns_where_rounding_has_grown_beyond_the_derivative(write: Write) -> None:
    """And is refused by ``strict``; that of few steps is right. Where a processor rounds both modes alike, they agree, and all is well."""
    source = write(ROTATE.replace(" - u[i])", ")").replace(" - u[n - 1])", ")"))
    u, many = np.random.default_rng(0).normal(size=64), {"repeat": "t", "sizes": {"t": 1000}, "snapshots": 20}
    unverified = enzyme(source, "rotate", "u[n] -> u[n]", verify="off", **many)
    (gradient,), (_, tangent) = pulled(unverified, [u], u), unverified.jvp(u, u)
    apart = abs(tangent @ u - gradient @ u) > 1e-7 * (abs(tangent * u).sum() + abs(gradient * u).sum())
    op = enzyme(source, "rotate", "u[n] -> u[n]", **many)
    strict = enzyme(source, "rotate", "u[n] -> u[n]", verify="strict", **many)
    if not apart:
        for verified in (op, strict):
            np.testing.assert_allclose(pulled(verified, [u], u)[0], gradient, rtol=1e-9)
        return
    with pytest.warns(ffgrad.GradientWarning, match="the derivative of 1000 steps of `rotate` is doubtful"):
        pulled(op, [u], u)
    with pytest.raises(DifferentiationError, match="the derivative of 1000 steps of `rotate` is wrong"):
        pulled(strict, [u], u)


# --- trust ------------------------------------------------------------------------------------------------

# From the twentieth step on a function with a derivative of its own is called.
LATE = """\
__attribute__((noinline)) double square(double x) { return x * x; }
double square_fwd(double x, double dx, double* dy) { *dy = FACTOR * x * dx; return x * x; }
void square_rev(double x, double* dx, double dy) { *dx += FACTOR * x * dy; }
void step(double* u, int* count, int n) {
  if (*count < 20) for (int i = 0; i < n; i++) u[i] = 0.9 * u[i];
  else for (int i = 0; i < n; i++) u[i] = 0.5 * square(u[i]);
  *count += 1;
}
"""


@pytest.mark.parametrize("factor", [2, 3])
def test_a_step_on_a_path_without_a_check_is_checked(write: Write, factor: int) -> None:
    """The first steps reach no rule. One that is wrong in both modes alike is refused where it is reached."""
    options: Any = {
        "repeat": "t",
        "sizes": {"t": 22},
        "snapshots": 3,
        "defines": {"FACTOR": factor},
        "derivatives": {"square": ("square_fwd", "square_rev")},
    }
    op = enzyme(write(LATE), "step", "u[n], count[1] -> u[n], count[1]", **options)
    u, count = np.array([1.0, 1.1, -0.3]), np.zeros(1, np.int32)
    if factor == 3:
        with pytest.raises(DifferentiationError):
            pulled(op, (u, count), (np.ones(3), None))
        return
    gradient = pulled(op, (u, count), (np.ones(3), None))[0]
    late = 0.9**20 * u
    np.testing.assert_allclose(gradient, 0.5 * late**2 * late * 0.9**20, rtol=1e-12)
    assert op.path_checks()["checked"] >= 1


@pytest.mark.parametrize("verify", ["always", "strict", "off"])
def test_every_way_of_checking_gives_the_same_gradient(heat: Callable[..., Enzyme], verify: str) -> None:
    """``always`` checks each step that is reversed."""
    inputs = arguments(7)
    cotangents = like((inputs[0], np.zeros(7)), 1)
    expected = pulled(heat(snapshots=3), inputs, cotangents)
    got = pulled(heat(snapshots=3, verify=verify), inputs, cotangents)
    assert all(np.array_equal(a, b) for a, b in zip(got, expected, strict=True))


def test_an_exception_names_its_step(write: Write) -> None:
    """Of the forward run."""
    source = write(
        "#include <stdexcept>\n"
        'extern "C" void step(double* u, int n) {\n'
        '  for (int i = 0; i < n; i++) { if (u[i] > 10) throw std::runtime_error("too large"); u[i] *= 2; }\n'
        "}\n",
        "f.cpp",
    )
    op = enzyme(source, "step", "u[n] -> u[n]", repeat="t", sizes={"t": 9})
    with pytest.raises(ForeignError, match=r'`step` threw "too large" in step 4 \(the first is 0\)'):
        op(np.ones(3))


def test_what_makes_no_loop_is_refused_in_words(heat: Callable[..., Enzyme], write: Write) -> None:
    """With what to write instead."""
    source = write(ROTATE, "rotate.c")

    def refusal(signature: str | None, **options: Any) -> str:
        with pytest.raises(SignatureError) as error:
            enzyme(source, "rotate", signature, **options)
        return str(error.value).splitlines()[0]

    assert refusal("u[n] -> u[n]", snapshots=3) == (
        "the option `snapshots` is about the steps of a loop, and `rotate` is none"
    )
    assert refusal("u[n] -> u[n]", repeat="t", memory="much") == 'memory="much" is no size'
    assert refusal(None, repeat="t") == ('repeat="t" needs a signature, which says what of `rotate` has that dimension')
    assert refusal("u[n] -> u[n]", repeat="t") == (
        '`t` follows from no input\'s shape: give sizes={"t": ...}, or write `t` as an input, which is the number of steps'
    )
    assert refusal("u[n] -> u[n]", repeat="t", mpi=True) == "`rotate` cannot be repeated by ranks of MPI together"


def test_a_kernel_is_repeated_on_the_cpu(write: Write) -> None:
    """With shapes, launch and derivative of one step."""
    source = write(
        "__global__ void step(double* u, const double* k, int n) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  if (i < n) u[i] = u[i] + 0.1 * k[i] * sin(u[i]);\n"
        "}\n",
        "f.cu",
    )
    op = enzyme(source, "step", "u[n], k[n] -> u[n]", repeat="t", sizes={"t": 15}, snapshots=3, block=[4])
    random = np.random.default_rng(0)
    u, k = random.normal(size=10), random.normal(size=10)
    state, slope = u.copy(), np.ones(10)
    for _ in range(15):
        slope *= 1 + 0.1 * k * np.cos(state)
        state = state + 0.1 * k * np.sin(state)
    np.testing.assert_allclose(op(u, k), state, rtol=1e-12)
    np.testing.assert_allclose(pulled(op, (u, k), np.ones(10))[0], slope, rtol=1e-12)


class OnDevice:
    """An array on a GPU."""

    def __dlpack_device__(self) -> tuple[int, int]:
        """A CUDA device."""
        return 2, 0


def test_arrays_on_a_gpu_are_refused_by_name(heat: Callable[..., Enzyme]) -> None:
    """A loop runs on the CPU, that over a kernel too."""
    u, k, _ = arguments(5)
    with pytest.raises(
        DeviceError, match=r"`q` is on a CUDA device, and the loop over steps of `step` runs on the CPU"
    ):
        heat()(u, k, OnDevice())


def test_a_pack_has_the_step_and_is_repeated_where_it_is_opened(heat: Callable[..., Enzyme], tmp_path: Path) -> None:
    """Without a compiler."""
    op = heat(snapshots=3)
    inputs = arguments(9)
    cotangents = like((inputs[0], np.zeros(9)), 1)
    expected = pulled(op, inputs, cotangents)
    pack = tmp_path / "heat.ffpack"
    ffgrad.export(pack, op)
    again = enzyme(pack, "step", SIGNATURE, repeat="t", snapshots=2)
    assert all(np.array_equal(a, b) for a, b in zip(pulled(again, inputs, cotangents), expected, strict=True))
