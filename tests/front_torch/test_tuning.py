"""``tune=True``: candidates are built, proven and timed at the first gradient; the fastest stays, also for later processes."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import torch
from ffgrad import CompileError
from ffgrad.torch import enzyme

SOURCE = """
void relax(const double* x, int n, double* y) {
  for (int i = 0; i < n; i++) {
    double s = x[i];
    for (int k = 0; k < 8; k++) s += 0.1 * (x[(i + k) % n] - s) * s;
    y[i] = s;
  }
}
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "relax.c"
    path.write_text(SOURCE)
    return path


def _outcomes() -> list[Path]:
    return list(Path(os.environ["FFGRAD_CACHE_DIR"]).glob("v*/entries/*/tuning-*.json"))


def _gradient(source: Path, tune: bool) -> torch.Tensor:
    x = torch.linspace(0.1, 0.9, 11, dtype=torch.float64).requires_grad_()
    f = enzyme(source, "relax", tune=tune)
    (gradient,) = torch.autograd.grad(f.apply(x).square().sum(), x)
    assert torch.autograd.gradcheck(f.apply, (x,))
    return gradient


def test_tuning_changes_the_time_and_not_the_gradient(source: Path) -> None:
    """Within rounding: candidates may fuse other multiply-adds."""
    before = set(_outcomes())
    tuned, plain = _gradient(source, tune=True), _gradient(source, tune=False)
    torch.testing.assert_close(tuned, plain, rtol=1e-13, atol=1e-13)
    (outcome,) = set(_outcomes()) - before
    tuning = json.loads(outcome.read_text())
    # Variants with sizes as constants come last, and are an addition to what is kept.
    general = [t for t in tuning["trials"] if t["sizes"] is None]
    special = tuning["trials"][len(general) :]
    times = [t["microseconds"] for t in general if t["microseconds"] is not None]
    kept = [t for t in general if t["microseconds"] == min(times)]
    assert len(general) >= 7
    assert special and all(t["sizes"] == {"n": 11} for t in special)
    assert tuning["special"] is None or tuning["special"] in special
    assert (tuning["pipeline"], tuning["engine_options"]) in [(t["pipeline"], t["engine_options"]) for t in kept]


@pytest.mark.parametrize("option", ["tune", "specialize"])
def test_no_variant_is_built_from_an_edited_source(source: Path, option: str) -> None:
    """It would be the gradient of another function than the one that was called."""
    x = torch.linspace(0.1, 0.9, 11, dtype=torch.float64).requires_grad_()
    f = enzyme(source, "relax", **{option: True})
    source.write_text(SOURCE.replace("0.1", "0.2"))
    with pytest.raises(CompileError, match="was edited after it was opened"):
        torch.autograd.grad(f.apply(x).sum(), x)
    again = enzyme(source, "relax", **{option: True})
    assert torch.autograd.gradcheck(again.apply, (x,))


def test_a_tuned_function_is_not_tuned_again(source: Path) -> None:
    """The outcome stays in the function's cache entry."""
    _gradient(source, tune=True)
    stamps = {path: path.stat().st_mtime_ns for path in _outcomes()}
    _gradient(source, tune=True)
    assert {path: path.stat().st_mtime_ns for path in _outcomes()} == stamps


def test_what_was_tuned_serves_every_size(tmp_path: Path) -> None:
    """The kept variant may have the first call's sizes as constants (small matrix products gain by it); other sizes still work."""
    path = tmp_path / "square.c"
    path.write_text(
        "void square(const double* a, int n, double* b) {\n"
        "  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {\n"
        "    double s = 0; for (int k = 0; k < n; k++) s += a[i * n + k] * a[k * n + j];\n"
        "    b[i * n + j] = s; } }\n"
    )
    tuned = enzyme(path, "square", "a[n,n] -> b[n,n]", tune=True)
    for n in (4, 3, 4, 9):
        a = torch.linspace(-1, 1, n * n, dtype=torch.float64).reshape(n, n).requires_grad_()
        w = torch.linspace(0.3, 0.9, n * n, dtype=torch.float64).reshape(n, n)
        got, expected = (torch.autograd.grad((w * y).sum(), a)[0] for y in (tuned.apply(a), a @ a))
        torch.testing.assert_close(got, expected, rtol=1e-12, atol=1e-12)


def test_a_function_that_cannot_be_differentiated_is_refused_as_without_tuning(tmp_path: Path) -> None:
    """With the reason, not with a list of failed candidates."""
    path = tmp_path / "open.c"
    path.write_text("double lookup(double);\nvoid f(const double* x, int n, double* y) { y[0] = lookup(x[n - 1]); }\n")
    import ffgrad

    x = torch.ones(3, dtype=torch.float64, requires_grad=True)
    with pytest.raises(ffgrad.DifferentiationError, match="`f` calls `lookup`"):
        enzyme(path, "f", tune=True).apply(x)


@pytest.mark.parametrize("option", ["tune", "specialize"])
def test_a_source_may_be_in_two_places(tmp_path: Path, option: str) -> None:
    """A folder that was moved: its artifacts stay, and variants are built from its new path."""
    x = torch.linspace(0.1, 0.9, 7, dtype=torch.float64).requires_grad_()
    text = SOURCE.replace("0.1", "0.15" if option == "tune" else "0.35")
    for place, options in [("old", {}), ("new", {option: True})]:
        source = tmp_path / place / "relax.c"
        source.parent.mkdir()
        source.write_text(text)
        assert torch.autograd.gradcheck(enzyme(source, "relax", **options).apply, (x,))
