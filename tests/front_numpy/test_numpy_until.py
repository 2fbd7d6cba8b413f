"""Loops over steps that a step ends (``until``), and compressed snapshots on the disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ffgrad.errors import SignatureError
from ffgrad.numpy import Enzyme, enzyme
from support.fixtures import RunPython, Write

# Newton's iteration for x^3 = a, element by element, until no element moves; the last change of each step is stacked.
NEWTON = """\
#include <math.h>
void newton(double* x, int* done, const double* a, double* change, int n) {
  *change = 0;
  for (int i = 0; i < n; i++) {
    double step = (x[i] * x[i] * x[i] - a[i]) / (3 * x[i] * x[i]);
    x[i] -= step;
    *change += step * step;
  }
  *done = *change < 1e-24;
}
"""
SIGNATURE = "x[n], done, a[n] -> x[n], done, change[t]"

# A smooth state.
SMOOTH = """\
#include <math.h>
void smooth(double* u, int n) {
  double before = u[0];
  for (int i = 1; i + 1 < n; i++) {
    double here = u[i];
    u[i] = here + 0.2 * (before - 2 * here + u[i + 1]) + 1e-3 * sin(here);
    before = here;
  }
}
"""


@pytest.fixture
def newton(write: Write) -> Callable[..., Enzyme]:
    """Opens ``NEWTON`` with options."""
    source = write(NEWTON)
    options: dict[str, Any] = {"repeat": "t", "sizes": {"t": 60}, "until": "done"}
    return lambda **more: enzyme(source, "newton", SIGNATURE, **(options | more))


def python_newton(x: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, list[float]]:
    """The same iteration in NumPy."""
    changes: list[float] = []
    while not changes or changes[-1] >= 1e-24:
        step = (x**3 - a) / (3 * x**2)
        x = x - step
        changes.append(float((step**2).sum()))
    return x, changes


def test_a_step_ends_the_loop(newton: Callable[..., Enzyme]) -> None:
    """Values are those of a ``while`` loop, what later steps would have written is zero, and sizes bound the number of steps."""
    a, x = np.array([2.0, 30.0, 5.0]), np.full(3, 2.0)
    root, done, changes = newton()(x, 0, a)
    expected, expected_changes = python_newton(x, a)
    np.testing.assert_allclose(root, expected, rtol=1e-15)
    ran = len(expected_changes)
    assert done == 1 and 3 < ran < 60
    np.testing.assert_allclose(changes[:ran], expected_changes, rtol=1e-9, atol=1e-25)
    assert not changes[ran:].any()
    root, done, changes = newton(sizes={"t": 3})(x, 0, a)
    assert done == 0 and changes.all() and changes.shape == (3,)


@pytest.mark.parametrize("snapshots", [1, 3])
def test_the_gradient_is_that_of_the_steps_that_ran(newton: Callable[..., Enzyme], snapshots: int) -> None:
    """The closed form at the root, the gradient of as many steps without the option, and the dot-product identity."""
    random = np.random.default_rng(0)
    a, x = np.array([2.0, 30.0, 5.0]), np.full(3, 2.0)
    op = newton(snapshots=snapshots)
    (root, _, _), pull = op.vjp(x, 0, a)
    v = random.normal(size=3)
    by_a = pull((v, None, None))[2]
    np.testing.assert_allclose(by_a, v / (3 * root**2), rtol=1e-12)
    ran = len(python_newton(x, a)[1])
    report = op.checkpointing()
    assert report is not None and report["steps"] == ran
    weights = random.normal(size=60)
    by_x, _, by_a = op.vjp(x, 0, a)[1]((v, None, weights))
    tangent = [random.normal(size=3), None, random.normal(size=3)]
    _, (moved, _, moved_changes) = op.jvp((x, 0, a), tuple(tangent))
    assert not moved_changes[ran:].any()
    forward = v @ moved + weights @ moved_changes
    assert forward == pytest.approx(by_x @ tangent[0] + by_a @ tangent[2], rel=1e-9)


def test_second_derivatives_of_a_loop_that_ends(newton: Callable[..., Enzyme]) -> None:
    """The root's closed form: x = a^(1/3), x'' = -2 / (9 x^5)."""
    a, x = np.array([2.0, 30.0, 5.0]), np.full(3, 2.0)
    op = newton(snapshots=2)
    root, v, d = op(x, 0, a)[0], np.array([1.0, -2.0, 0.5]), np.array([0.3, 1.0, -1.0])
    second = op.hvp((x, 0, a), (None, None, d), (v, None, None))
    np.testing.assert_allclose(second[2], -2 / (9 * root**5) * v * d, rtol=1e-9)


def test_each_element_of_a_batch_ends_by_itself(write: Write) -> None:
    """Loops of different lengths."""
    source = write(NEWTON)
    signature = "x[...,n], done[...], a[...,n] -> x[...,n], done[...], change[...,t]"
    op = enzyme(source, "newton", signature, repeat="t", sizes={"t": 60}, until="done")
    a, x = np.array([[2.0], [3000.0]]), np.full((2, 1), 1.0)
    (root, _, changes), pull = op.vjp(x, np.zeros(2, np.int32), a)
    assert np.count_nonzero(changes[0]) < np.count_nonzero(changes[1])
    np.testing.assert_allclose(pull((np.ones((2, 1)), None, None))[2], 1 / (3 * root**2), rtol=1e-12)


def test_what_cannot_end_a_loop_is_refused(write: Write) -> None:
    """With what can."""
    source = write(NEWTON)
    with pytest.raises(SignatureError, match='until="x" is no integer that `newton` carries from step to step'):
        enzyme(source, "newton", SIGNATURE, repeat="t", sizes={"t": 9}, until="x")
    with pytest.raises(SignatureError, match="Give the number back through a pointer parameter"):
        enzyme(source, "newton", SIGNATURE, repeat="t", sizes={"t": 9}, until="return")
    with pytest.raises(SignatureError, match="the option `until` is about the steps of a loop"):
        enzyme(source, "newton", "x[n], done, a[n] -> x[n], done, change", until="done")
    sliced = write("void f(double* u, int* done, double* w, int n) { u[0] *= w[0]; w[0] = u[0]; *done = 0; }\n")
    with pytest.raises(SignatureError, match='until="done" does not go with `w`'):
        enzyme(sliced, "f", "u[n], done, w[t,n] -> u[n], done, w[t,n]", repeat="t", until="done")


# --- compressed snapshots ---------------------------------------------------------------------------------


def test_compressed_snapshots_give_the_same_bits_in_less_room(write: Write, tmp_path: Path) -> None:
    """Also second derivatives; nothing stays in the folder."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    source, n = write(SMOOTH), 40_000
    u = np.sin(np.linspace(0, 3, n))
    v, d = np.cos(np.linspace(0, 9, n)), np.linspace(-1, 1, n)
    options: dict[str, Any] = {"repeat": "t", "sizes": {"t": 40}, "snapshots": 6}
    plain = enzyme(source, "smooth", "u[n] -> u[n]", **options)
    on_disk = enzyme(source, "smooth", "u[n] -> u[n]", **options, memory="1", snapshot_dir=folder)
    packed = enzyme(source, "smooth", "u[n] -> u[n]", **options, memory="1", snapshot_dir=folder, compress=True)
    expected = plain.vjp(u)[1](v)[0]
    for op in (on_disk, packed):
        assert np.array_equal(op.vjp(u)[1](v)[0], expected)
    whole, less = on_disk.checkpointing(), packed.checkpointing()
    assert whole is not None and less is not None
    assert whole["disk_bytes"] == 6 * whole["state_bytes"] and less["on_disk"] == 6
    assert 0 < less["disk_bytes"] < 0.9 * whole["disk_bytes"]
    assert np.array_equal(packed.hvp((u,), (d,), v)[0], plain.hvp((u,), (d,), v)[0])
    assert not list(folder.iterdir())


def test_a_full_disk_behind_compression_is_an_error(write: Write, run_python: RunPython, tmp_path: Path) -> None:
    """Met by the step that writes: the file cannot grow beyond a limit of the process."""
    source = write(SMOOTH)
    done = run_python(
        f"""
import resource, signal
import numpy as np
from ffgrad.errors import DifferentiationError
from ffgrad.numpy import enzyme
op = enzyme({str(source)!r}, "smooth", "u[n] -> u[n]", repeat="t", sizes={{"t": 9}}, snapshots=4, memory="1", verify="off",
            snapshot_dir={str(tmp_path)!r}, compress=True)
u = np.random.default_rng(0).random(200_000)
values, pull = op.vjp(u[:100])
pull(np.ones(100))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
values, pull = op.vjp(u)
try:
    pull(np.ones(200_000))
except DifferentiationError as error:
    print(error.code)
"""
    )
    assert done.stdout.split() == ["snapshot-disk"]


def test_compression_without_a_disk_is_refused(write: Write) -> None:
    """It would do nothing."""
    with pytest.raises(SignatureError, match="compress=True is about snapshots on the disk"):
        enzyme(write(SMOOTH), "smooth", "u[n] -> u[n]", repeat="t", sizes={"t": 9}, compress=True)
