"""Verification follows the path: where values decide it, a gradient on a path that no verified call has had is verified first.

The first calls are of the kind that passes; what is wrong or doubtful shows at later values only. Rewrites that make such gradients right are
left out, so that the check of the path alone is what stands between them and the caller.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ffgrad
import numpy as np
import pytest
import torch
from ffgrad.torch import enzyme
from support.fixtures import Compile, RunPython, Write
from support.paths import (
    CHOOSING,
    CHOOSING_SIGNATURE,
    FLAGGED,
    FLAGGED_OPTIONS,
    FLAGGED_SIGNATURE,
    MANY_FUNCTIONS,
    SLOTS,
    SLOTS_OPTIONS,
    SLOTS_SIGNATURE,
    points,
    slots_by_hand,
)

# A series that ends by itself where b is a whole number.
SERIES = """\
#include <math.h>
double binom(double x, double b) {
  double t = 1, s = 1;
  for (int k = 0; k < 500; k++) {
    t *= (b - k) / (k + 1) * x;
    s += t;
    if (fabs(t) < 1e-16 * fabs(s)) break;
  }
  return s;
}
"""

# One value has a branch of its own, whose derivative is another one: zero here, since the branch returns a constant.
SPECIAL = """\
#include <math.h>
double special(double x) {
  if (x == 2.0) return x;
  double s = 0;
  for (int i = 1; i < 20; i++) s += sin(x * i) / i;
  return s;
}
"""

# The same where the derivative is not zero: Gamma'(3) by Lanczos' sum, which a recurrence leads to 2.
GAMMA = """\
#include <math.h>
double gamma_of(double z) {
  double p = 1, x = z, s = 0.99999999999980993;
  const double c[8] = {676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
                       12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7};
  while (x > 2.5) { x -= 1; p *= x; }
  if (x == 2.0) return p;
  for (int i = 0; i < 8; i++) s += c[i] / (x + i);
  double t = x + 6.5;
  return p * 2.5066282746310002 * pow(t, x - 0.5) * exp(-t) * s;
}
"""

SIZES = """\
#include <math.h>
void wave(const double *x, int n, double *y) { for (int i = 0; i < n; i++) y[i] = sin(x[i]) * fmax(x[i], 0.5); }
"""

NUMBERS = re.compile(r"-?\d\.\d+e-?\d+")


def gradient(function: Callable[..., torch.Tensor], *values: Any) -> list[Any]:
    inputs = [torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in values]
    function(*inputs).sum().backward()
    return [x.grad.tolist() for x in inputs if x.grad is not None]


# Above a thousand, a function counts the branches: `lowering/path_map.rs`.
MANY_BRANCHES = "".join(f"if (x[0] > {100 + k}) y[0] += sin(x[0]);" for k in range(1100))


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize(
    ("mode", "branches"),
    [("recompute", ""), ("tape", ""), ("recompute", MANY_BRANCHES)],
    ids=["recompute", "tape", "many"],
)
def test_a_wrong_gradient_at_later_values_is_never_returned(compile_source: Compile, mode: str, branches: str) -> None:
    """Positive numbers pass; each later gradient is right or refused, and wrong if nobody looks."""
    source = "#include <math.h>\n" + SLOTS.replace("  }\n}", f"  }}{branches}\n}}")
    expected = [slots_by_hand(x) for x in points(6)]
    # What the branches add is never reached: compiling it once more, which takes a minute, would show the same.
    if not branches:
        wrong = compile_source(source, "toggle", SLOTS_SIGNATURE, verify="off", mode=mode, **SLOTS_OPTIONS)
        made = [gradient(wrong.apply, x)[0] for x in points(6)]
        assert not all(np.allclose(a, b) for a, b in zip(made, expected, strict=True)), (
            "no longer wrong: the test tests nothing"
        )
    watched = compile_source(source, "toggle", SLOTS_SIGNATURE, mode=mode, **SLOTS_OPTIONS)
    right = 0
    for x, derivative in zip(points(6), expected, strict=True):
        try:
            np.testing.assert_allclose(gradient(watched.apply, x)[0], derivative, rtol=1e-9)
            right += 1
        except ffgrad.DifferentiationError as refusal:
            assert refusal.code == "unproven-gradient"  # noqa: PT017
    assert right > 0


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize(
    ("flags", "period", "mode"), [([0, 3, 0, 0], 0, 0), ([0] * 4, 3, 0), ([0] * 4, 0, 2), ([3, 0, 1, 0], 2, 1)]
)
def test_integers_that_are_data_decide_paths_too(
    compile_source: Compile, flags: list[int], period: int, mode: int
) -> None:
    """A rule that is wrong, and that the first call does not reach: the call that does is refused."""
    f = compile_source(FLAGGED, "apply_flags", FLAGGED_SIGNATURE, **FLAGGED_OPTIONS)
    x, none = [0.5, -1.0, 2.0, 0.3], torch.zeros(4, dtype=torch.int32)
    assert gradient(lambda z: f.apply(z, none, 0, 0), x) == [[3.0] * 4]
    assert gradient(lambda z: f.apply(z, none, 0, 1), x) == [[1.0] * 4]
    with pytest.raises(ffgrad.DifferentiationError):
        gradient(lambda z: f.apply(z, torch.tensor(flags, dtype=torch.int32), period, mode), x)


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("program", [name for name in CHOOSING if not name.startswith("string")])
def test_what_data_choose_by_memory_pointers_and_text_is_seen(compile_source: Compile, program: str) -> None:
    """A rule that is wrong in both modes alike: no call reaches it at first, and the further points of a check prove nothing of it."""
    source = f"f{Path(program).suffix or '.c'}"
    f = compile_source(CHOOSING[program], "apply", CHOOSING_SIGNATURE, name=source, **FLAGGED_OPTIONS)
    x = torch.tensor([-0.4, 0.7, 0.5, -0.2], dtype=torch.float64)
    for _ in range(2):
        np.testing.assert_allclose(gradient(lambda z: f.apply(z, 0), x.tolist())[0], x.cos() + 2)
    with pytest.raises(ffgrad.DifferentiationError):
        gradient(lambda z: f.apply(z, 2), (x.abs() + 0.3).tolist())


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("program", [name for name in CHOOSING if name.startswith("string")])
def test_what_strings_decide_is_verified(compile_source: Compile, program: str) -> None:
    """Rules and strings do not go together, so the check itself is looked for. All values have one sign: further points have it, too."""
    f = compile_source(CHOOSING[program], "apply", CHOOSING_SIGNATURE, name="f.cpp")
    x = torch.tensor([-0.4, -0.7, -0.5, -0.2], dtype=torch.float64)
    for _ in range(2):
        np.testing.assert_allclose(gradient(lambda z: f.apply(z, 0), x.tolist())[0], x.cos() + 2)
    assert f.path_checks()["checked"] == 0
    x = x.abs()
    np.testing.assert_allclose(gradient(lambda z: f.apply(z, 2), x.tolist())[0], x.cos() + 2 * x)
    assert f.path_checks()["checked"] == 1


@pytest.mark.usefixtures("cache")
def test_which_function_is_called_is_seen_where_calls_stay_indirect(compile_source: Compile) -> None:
    """The first function of the table is constant."""
    f = compile_source(MANY_FUNCTIONS, "apply", CHOOSING_SIGNATURE)
    x = torch.tensor([0.4, 0.7, 0.5], dtype=torch.float64)
    for _ in range(2):
        np.testing.assert_allclose(gradient(lambda z: f.apply(z, 0), x.tolist())[0], x.cos())
    with pytest.raises(ffgrad.DifferentiationError):
        gradient(lambda z: f.apply(z, 7), x.tolist())


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize(("name", "signature"), [("jvp", SLOTS_SIGNATURE), ("batch", "x[..., n] -> y[..., n]")])
def test_other_routes_are_watched_too(compile_source: Compile, name: str, signature: str) -> None:
    """Batches by element, transforms of `torch.func`."""
    toggle = compile_source(SLOTS, "toggle", signature, **SLOTS_OPTIONS)
    gradient(toggle.apply, [0.5] * 8)
    x = torch.tensor(points(6)[1:], dtype=torch.float64)
    expected = np.array([slots_by_hand(row) for row in x.tolist()])
    try:
        if name == "batch":
            made = torch.tensor(gradient(toggle.apply, x.tolist())[0], dtype=torch.float64)
        else:
            made = torch.func.vmap(torch.func.grad(lambda row: toggle.apply(row).sum()))(x)
    except ffgrad.DifferentiationError as refusal:
        assert refusal.code == "unproven-gradient"  # noqa: PT017
        return
    np.testing.assert_allclose(made.numpy(), expected, rtol=1e-9)


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize(
    ("source", "function", "usual", "single"),
    [
        (SERIES, "binom", (0.5, 0.7), (0.9, 1.0)),
        (SPECIAL, "special", (0.3,), (2.0,)),
    ],
)
def test_a_branch_for_a_single_value_warns_with_both_numbers(
    compile_source: Compile, source: str, function: str, usual: tuple[float, ...], single: tuple[float, ...]
) -> None:
    """In a later call as in the first one."""
    op = compile_source(source, function)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ffgrad.GradientWarning)
        gradient(op.apply, *usual)
    with pytest.warns(ffgrad.GradientWarning, match="doubtful") as caught:
        gradient(op.apply, *single)
    assert len(set(NUMBERS.findall(str(caught[0].message)))) > 1
    strict = compile_source(source, function, verify="strict")
    gradient(strict.apply, *usual)
    with pytest.raises(ffgrad.DifferentiationError) as refused:
        gradient(strict.apply, *single)
    assert refused.value.code == "unproven-gradient"


@pytest.mark.parametrize("verify", ["once", "strict"])
def test_a_branch_for_a_single_value_that_only_skips_work_has_the_functions_derivative(
    compile_source: Compile, verify: str
) -> None:
    """Gamma'(3) is Gamma(3) psi(3) = 2 (3/2 - Euler's constant); without the branch it is computed as at every other number."""
    op = compile_source(GAMMA, "gamma_of", verify=verify)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ffgrad.GradientWarning)
        gradient(op.apply, 3.3)
        np.testing.assert_allclose(gradient(op.apply, 3.0), [2 * (1.5 - np.euler_gamma)], rtol=1e-9)


@pytest.mark.usefixtures("cache")
def test_paths_are_verified_once_and_known_to_later_processes(
    compile_source: Compile, run_python: RunPython, write: Write
) -> None:
    """A call on a known path is not checked again, here or elsewhere."""
    op = compile_source(SLOTS, "toggle", SLOTS_SIGNATURE)
    for x in points(20):
        np.testing.assert_allclose(gradient(op.apply, x)[0], slots_by_hand(x), rtol=1e-9)
    before = op.path_checks()
    for x in points(20):
        gradient(op.apply, x)
    assert op.path_checks() == before
    assert before["unchecked"] == 0
    child = run_python(f"""
import torch
from ffgrad.torch import enzyme
op = enzyme({str(write(SLOTS))!r}, "toggle", {SLOTS_SIGNATURE!r})
for x in {points(20)!r}:
    op.apply(torch.tensor(x, dtype=torch.float64, requires_grad=True)).sum().backward()
print(op.path_checks()["checked"])
""")
    assert child.stdout.strip() == "0"


def records(cache: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in cache.glob("v*/**/artifact.json")]


def test_where_sizes_decide_nothing_is_counted(cache: Path, compile_source: Compile) -> None:
    """The same code with the pass and without."""
    op = compile_source(SIZES, "wave", "x[n] -> y[n]")
    gradient(op.apply, [0.1, 0.9])
    plain = compile_source(SIZES, "wave", "x[n] -> y[n]", without=["path-map"])
    gradient(plain.apply, [0.1, 0.9])
    made = [record for record in records(cache) if record["pipeline"]]
    assert [record["paths"] for record in made] == ["sizes", "sizes"]
    assert op.path_checks() == {"checked": 0, "unchecked": 0, "seconds": 0.0}


def test_the_record_names_the_lines(cache: Path, compile_source: Compile) -> None:
    """Of branches, choices and addresses that values decide."""
    gradient(compile_source(SPECIAL, "special").apply, 0.3)
    [record] = [record for record in records(cache) if record["pipeline"]]
    assert 3 in [line["line"] for line in record["paths"]["values"]]


@pytest.mark.parametrize("options", [{}, {"mode": "tape"}])
def test_what_is_not_chosen_adds_no_nan_after_a_good_gradient(
    cache: Path, write: Write, options: dict[str, str]
) -> None:
    """In a batch, from a tape, and in forward mode: the results of each are looked at."""
    source = write("#include <math.h>\ndouble guarded(double x) { double r = sqrt(x); return x < 0 ? 1 - x : r; }\n")

    def gradient(x: torch.Tensor) -> torch.Tensor:
        x = x.clone().requires_grad_()
        f.apply(x).backward()
        assert x.grad is not None
        return x.grad

    f = enzyme(source, "guarded", "x -> return", **options)  # type: ignore[arg-type]
    x = torch.tensor([4.0, 1.0, -1.0, 0.25], dtype=torch.float64)
    expected = torch.tensor([0.25, 0.5, -1.0, 1.0], dtype=torch.float64)
    assert [gradient(each).item() for each in x] == expected.tolist()
    for of_one in (torch.func.grad, lambda f: lambda v: torch.func.jvp(f, (v,), (v,))[1] / v):
        batched = torch.func.vmap(of_one(enzyme(source, "guarded", "x -> return", **options).apply))  # type: ignore[arg-type]
        torch.testing.assert_close(batched(x.abs()), 0.5 / x.abs().sqrt())
        torch.testing.assert_close(batched(x), expected)
