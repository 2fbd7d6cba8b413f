"""No gradient is returned unverified: when verification runs, its outcome, and programs that Enzyme gets silently wrong."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import warnings
from pathlib import Path

import ffgrad
import pytest
import torch
from ffgrad.torch import Enzyme, enzyme
from support.fixtures import Compile, RunPython, Write
from support.loader import Case, load_cases

# Counts its own calls: a verification shows as additional calls.
COUNTED = """\
void counted(const double* x, int n, double* y, long long* calls) {
  static long long count;
  *calls = ++count;
  for (int i = 0; i < n; i++) y[i] = x[i] * x[i];
}
"""
COUNTED_SIGNATURE = "x[n] -> y[n], calls[1]"

# The derivative at 0 is 1 by the usual rule; central differences say 0.
KINK = """\
#include <math.h>
void magnitude(const double* x, int n, double* y) {
  for (int i = 0; i < n; i++) y[i] = fabs(x[i]);
}
"""


# A derivative given by the user that is right for three numbers only.
RIGHT_FOR_THREE = """\
double total(const double* x, int n) { double s = 0; for (int i = 0; i < n; i++) s += x[i] * x[i]; return s; }
double total_fwd(const double* x, const double* dx, int n, double* dreturn) {
  *dreturn = 0;
  for (int i = 0; i < n; i++) *dreturn += 2 * x[i] * dx[i];
  return total(x, n);
}
void total_rev(const double* x, double* dx, int n, double dreturn) {
  for (int i = 0; i < 3; i++) dx[i] += 2 * x[i] * dreturn;
}
void f(const double* x, int n, double* y) { y[0] = total(x, n); }
"""


def calls_of(operation: Enzyme, times: int, size: int = 3) -> list[int]:
    """Calls forward and backward, and returns what the foreign counter said each time."""
    seen = []
    for _ in range(times):
        x = torch.ones(size, dtype=torch.float64, requires_grad=True)
        y, calls = operation.apply(x)
        y.sum().backward()
        assert x.grad is not None and x.grad.tolist() == [2.0] * size
        seen.append(calls.item())
    return seen


@pytest.fixture
def checks_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checks run in this process, where the foreign counter sees them."""
    monkeypatch.setenv("FFGRAD_PROVER", "none")


@pytest.mark.usefixtures("cache", "checks_here")
def test_a_gradient_is_checked_once_a_build(compile_source: Compile) -> None:
    """The first call runs the function more often than asked, the later ones do not."""
    first, second, third = calls_of(compile_source(COUNTED, "counted", COUNTED_SIGNATURE), 3)
    assert first > 1
    assert (second, third) == (first + 1, first + 2)


def test_a_check_is_not_repeated_in_the_next_process(
    cache: object, compile_source: Compile, run_python: RunPython, write: Write
) -> None:
    """Its outcome is stored with the artifact."""
    calls_of(compile_source(COUNTED, "counted", COUNTED_SIGNATURE), 1)
    child = run_python(f"""
import torch
from ffgrad.torch import enzyme
counted = enzyme({str(write(COUNTED))!r}, "counted", {COUNTED_SIGNATURE!r})
x = torch.ones(3, dtype=torch.float64, requires_grad=True)
y, calls = counted.apply(x)
y.sum().backward()
print(calls.item(), x.grad.tolist())
""")
    assert child.stdout.split("\n")[0] == "1 [2.0, 2.0, 2.0]"


@pytest.mark.usefixtures("cache", "checks_here")
def test_each_of_the_first_sizes_is_checked_once(compile_source: Compile) -> None:
    """The ninth is not; nor is any size a second time, by another object with the same cache."""
    counted = compile_source(COUNTED, "counted", COUNTED_SIGNATURE)
    calls_of(counted, 1)
    for size in range(4, 11):
        first, second, third = calls_of(counted, 3, size)  # the check comes with the first backward call
        assert second > first + 1 and third == second + 1
    for size in (3, 11):
        first, second = calls_of(counted, 2, size)
        assert second == first + 1
    first, second = calls_of(compile_source(COUNTED, "counted", COUNTED_SIGNATURE, timeout=299), 2, 7)
    assert second == first + 1


@pytest.mark.usefixtures("cache")
def test_a_gradient_that_is_wrong_at_another_size_is_refused(compile_source: Compile) -> None:
    """The sizes that were right stay so."""
    f = compile_source(RIGHT_FOR_THREE, "f", "x[n] -> y[1]", derivatives={"total": ("total_fwd", "total_rev")})
    for _ in range(2):
        x = torch.ones(3, dtype=torch.float64, requires_grad=True)
        f.apply(x).sum().backward()
        assert x.grad is not None and x.grad.tolist() == [2.0] * 3
        y = f.apply(torch.ones(5, dtype=torch.float64, requires_grad=True))
        with pytest.raises(ffgrad.DifferentiationError, match="the reverse derivative given for `total` is wrong"):
            y.sum().backward()


def total_of_ones(f: Enzyme, size: int) -> list[float]:
    """Calls forward and backward."""
    x = torch.ones(size, dtype=torch.float64, requires_grad=True)
    f.apply(x).sum().backward()
    assert x.grad is not None
    gradient: list[float] = x.grad.tolist()
    return gradient


def test_a_size_that_was_refused_is_never_taken_to_be_right(
    cache: Path, compile_source: Compile, tmp_path: Path
) -> None:
    """Not after eight others were checked, nor by another process with the same cache, nor in a pack. The search is not repeated."""
    source = RIGHT_FOR_THREE.replace("i < 3", "i < n && i < 8")
    rules = {"total": ("total_fwd", "total_rev")}
    f = compile_source(source, "f", "x[n] -> y[1]", derivatives=rules)
    wrong = "the reverse derivative given for `total` is wrong"
    assert total_of_ones(f, 1) == [2.0]
    with pytest.raises(ffgrad.DifferentiationError, match=wrong):
        total_of_ones(f, 9)
    for size in range(2, 9):
        assert total_of_ones(f, size) == [2.0] * size
    # That of the function without the derivative, which finds out what is wrong, is there too.
    choices = [(path, json.loads(path.read_text())) for path in cache.rglob("choice-d1-1.json")]
    ((choice, kept),) = [(path, kept) for path, kept in choices if kept["refused"]]
    assert (len(kept["sizes"]), len(kept["refused"])) == (8, 1)
    for folder in choice.parent.glob("d1-1-*"):
        if folder.name != f"d1-1-{kept['pipeline']}":
            shutil.rmtree(folder)
    with pytest.raises(ffgrad.DifferentiationError, match=wrong):
        total_of_ones(f, 9)
    assert len(list(choice.parent.glob("d1-1-*"))) == 1
    assert total_of_ones(f, 10)[8:] == [0.0, 0.0], (
        "the tenth size is not checked, as docs/understanding/verification.md says"
    )

    again = compile_source(source, "f", "x[n] -> y[1]", derivatives=rules, timeout=299)
    assert total_of_ones(again, 8) == [2.0] * 8
    with pytest.raises(ffgrad.DifferentiationError, match=wrong):
        total_of_ones(again, 9)

    (packed,) = ffgrad.export(tmp_path / "f.ffpack", f)["functions"]["f"]["derivatives"]
    assert packed["check"] is None and packed["refused"] == kept["refused"] and len(packed["pipelines"]) > 1
    there = enzyme(tmp_path / "f.ffpack", "f")
    assert total_of_ones(there, 8) == [2.0] * 8
    with pytest.raises(ffgrad.DifferentiationError, match=wrong):
        total_of_ones(there, 9)


@pytest.mark.usefixtures("cache")
def test_a_size_that_was_refused_at_the_first_call_stays_refused(compile_source: Compile) -> None:
    """When others were right afterwards, more than are checked."""
    source = RIGHT_FOR_THREE.replace("i < 3", "i < n && i < 8")
    f = compile_source(source, "f", "x[n] -> y[1]", derivatives={"total": ("total_fwd", "total_rev")})
    for sizes in (range(1, 9), range(0)):
        with pytest.raises(ffgrad.DifferentiationError, match="derivative given for `total` is wrong"):
            total_of_ones(f, 9)
        for size in sizes:
            assert total_of_ones(f, size) == [2.0] * size


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("front", ["torch", "numpy"])
@pytest.mark.parametrize("first", [3, 5])
def test_a_size_that_was_refused_stays_refused_when_a_notebook_cell_is_run_again(
    front: str, first: int, write: Write, run_python: RunPython
) -> None:
    """Opened again and called again, in the same process and in the next one; the other size stays right."""
    path = write(RIGHT_FOR_THREE)
    cell = f"""
import ffgrad
import numpy as np
from ffgrad.{front} import enzyme

def gradient(size):
    f = enzyme({str(path)!r}, "f", "x[n] -> y[1]", derivatives={{"total": ("total_fwd", "total_rev")}})
    if {front!r} == "numpy":
        return f.vjp(np.ones(size))[1](np.ones(1))[0].tolist()
    import torch
    x = torch.ones(size, dtype=torch.float64, requires_grad=True)
    f(x).sum().backward()
    return x.grad.tolist()

for size in ({first}, {8 - first}) * 3:
    try:
        print(size, gradient(size))
    except ffgrad.DifferentiationError as e:
        print(size, "refused", "derivative given for `total` is wrong" in str(e))
"""
    for _ in range(2):
        said = set(run_python(cell).stdout.splitlines())
        assert said == {"3 [2.0, 2.0, 2.0]", "5 refused True"}


@pytest.mark.usefixtures("cache")
def test_large_arguments_of_another_size_are_not_copied_for_a_check(compile_source: Compile) -> None:
    """A check makes copies: beyond 16 MiB only the first call is checked."""
    counted = compile_source(COUNTED, "counted", COUNTED_SIGNATURE)
    calls_of(counted, 1)
    first, second = calls_of(counted, 2, 2**20 + 1)
    assert second == first + 1


@pytest.mark.usefixtures("cache", "checks_here")
def test_verify_always_checks_every_call(compile_source: Compile) -> None:
    """Every one of them runs the function more often than asked."""
    seen = calls_of(compile_source(COUNTED, "counted", COUNTED_SIGNATURE, verify="always"), 3)
    assert seen[0] > 1 and all(later > earlier + 1 for earlier, later in zip(seen, seen[1:], strict=False))


@pytest.mark.usefixtures("cache")
def test_verify_off_checks_nothing(compile_source: Compile) -> None:
    """The function runs as often as it is called."""
    assert calls_of(compile_source(COUNTED, "counted", COUNTED_SIGNATURE, verify="off"), 3) == [1, 2, 3]


def test_an_unchecked_build_is_checked_when_asked_for(cache: object, compile_source: Compile) -> None:
    """A call with `verify="off"` does not count as verified for `verify="once"`."""
    calls_of(compile_source(COUNTED, "counted", COUNTED_SIGNATURE, verify="off"), 1)
    choice = compile_source(COUNTED, "counted", COUNTED_SIGNATURE)
    before = ffgrad.copies()["in_place"]
    calls_of(choice, 1)
    assert ffgrad.copies()["in_place"] > before  # the arguments of a check are copies


def at_the_kink() -> torch.Tensor:
    """Three numbers, one exactly at 0."""
    return torch.tensor([0.0, 1.5, -2.0], dtype=torch.float64, requires_grad=True)


def test_a_kink_is_one_warning_with_both_numbers(
    cache: object, compile_source: Compile, run_python: RunPython, write: Write
) -> None:
    """The gradient is returned; the warning comes once a build, not once a call or process."""
    magnitude = compile_source(KINK, "magnitude")
    with pytest.warns(ffgrad.GradientWarning, match="magnitude") as caught:
        x = at_the_kink()
        magnitude.apply(x).sum().backward()
    assert len(caught) == 1
    assert x.grad is not None and x.grad[1:].tolist() == [1.0, -1.0]
    numbers = re.findall(r"-?\d\.\d+e-?\d+", str(caught[0].message))
    assert len(numbers) >= 2 and len(set(numbers)) > 1

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        magnitude.apply(at_the_kink()).sum().backward()
    child = run_python(f"""
import warnings
warnings.simplefilter("error")
import torch
from ffgrad.torch import enzyme
x = torch.tensor([0.0, 1.5, -2.0], dtype=torch.float64, requires_grad=True)
warnings.filterwarnings("ignore", category=FutureWarning)
enzyme({str(write(KINK))!r}, "magnitude").apply(x).sum().backward()
print(x.grad.tolist()[1:])
""")
    assert child.stdout.strip() == "[1.0, -1.0]"


@pytest.mark.usefixtures("cache")
def test_a_warning_points_at_the_users_line(compile_source: Compile) -> None:
    """Not into the package."""
    magnitude = compile_source(KINK, "magnitude")
    with pytest.warns(ffgrad.GradientWarning) as caught:
        magnitude.apply(at_the_kink())
    assert caught[0].filename == __file__


@pytest.mark.usefixtures("cache")
def test_verify_strict_refuses_at_a_kink(compile_source: Compile) -> None:
    """With both numbers, and only there."""
    magnitude = compile_source(KINK, "magnitude", verify="strict")
    with pytest.raises(ffgrad.DifferentiationError) as caught:
        magnitude.apply(at_the_kink()).sum().backward()
    assert caught.value.code == "unproven-gradient"
    assert len(set(re.findall(r"-?\d\.\d+e-?\d+", str(caught.value)))) > 1
    x = torch.tensor([1.0, -1.0], dtype=torch.float64, requires_grad=True)
    magnitude.apply(x).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [1.0, -1.0]


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("name", ["swapped_buffers", "complex_division"])
@pytest.mark.parametrize("verify", ["once", "always", "strict"])
def test_what_enzyme_gets_silently_wrong_is_right_or_refused(name: str, verify: str) -> None:
    """Two programs whose first pipeline is wrong: right with a later one, or refused with both numbers; never wrong."""
    (case,) = load_cases(names=[name])
    operation = enzyme(case.source, case.function, case.signature, verify=verify, **case.options)  # type: ignore[arg-type]
    values = case.make_inputs()
    inputs = [torch.tensor(v, requires_grad=i.differentiable) for v, i in zip(values, case.inputs, strict=True)]
    try:
        output = operation.apply(*inputs)
    except ffgrad.DifferentiationError as refusal:
        assert re.search(r"reverse mode gives \S+, forward mode \S+", str(refusal))
        return
    for position, x in enumerate(inputs):
        if x.requires_grad:
            (gradient,) = torch.autograd.grad(output.sum(), x, retain_graph=True)
            torch.testing.assert_close(gradient, differences(case, position), rtol=1e-6, atol=1e-6)


def differences(case: Case, position: int) -> torch.Tensor:
    """Central differences of the sum of the NumPy reference's output with respect to one input."""
    values, step = case.make_inputs(), 1e-5
    gradient = torch.zeros(values[position].shape, dtype=torch.float64)
    for i in range(gradient.numel()):
        sums = []
        for sign in (1, -1):
            moved = [v.copy() for v in values]
            moved[position].reshape(-1)[i] += sign * step
            sums.append(case.expected(moved)[0].sum())
        gradient.view(-1)[i] = (sums[0] - sums[1]) / (2 * step)
    return gradient


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("options", [{"pipeline": "loose"}, {"loose_types": True}])
def test_a_copy_whose_type_enzyme_would_guess_is_refused_with_its_line(options: dict[str, object]) -> None:
    """It guesses pointers: the adjoints of all that is moved would be zero, and no check is asked to find that out."""
    (case,) = (case for case in load_cases() if case.name == "vector_stack")
    f = enzyme(case.sources, case.function, case.signature, without=["copy-types"], verify="off", **options)  # type: ignore[arg-type]
    x = torch.linspace(-1, 1, 9, dtype=torch.float64, requires_grad=True)
    with pytest.raises(ffgrad.DifferentiationError, match="holds numbers or addresses") as caught:
        f.apply(x).sum().backward()
    error = caught.value
    assert (error.code, Path(str(error.file)).name, error.line) == ("unknown-type", "vector_stack.cpp", 6)
    assert "loose_types" not in str(error)


@pytest.mark.usefixtures("cache")
def test_a_check_leaves_the_callers_tensors_alone(compile_source: Compile) -> None:
    """It works on copies."""
    magnitude = compile_source(KINK, "magnitude", verify="always")
    x = torch.tensor([0.5, 1.5, -2.0], dtype=torch.float64, requires_grad=True)
    before = x.detach().clone()
    magnitude.apply(x).sum().backward()
    assert torch.equal(x.detach(), before)


# A series that ends early where b is a whole number, with a derivative that goes on: a hundredth of the whole.
SERIES = """
#include <math.h>
static const float weights[2] = {1.0f, 0.5f};
double series(double b, double x) {
  double c = 1, s = 1, t;
  int n = 1;
  do { c *= (1 - b / n) * x; t = weights[n % 2] * c / (1 + n); s += t; n++; } while (fabs(t) > 1e-16 * fabs(s));
  return s + 0.3 * b * x;
}
"""


@pytest.mark.usefixtures("cache")
def test_single_precision_somewhere_inside_does_not_coarsen_the_check(compile_source: Compile) -> None:
    """The function computes in double precision: a table of floats is no reason for tolerances of single precision."""
    series = compile_source(SERIES, "series", "b, x -> return")

    def backward(b: float) -> None:
        b_, x = (torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in (b, 0.6))
        series.apply(b_, x).backward()

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        backward(1.5)
        backward(2.5)
    with pytest.warns(ffgrad.GradientWarning, match="finite differences"):
        backward(2.0)


def test_nan_inputs_give_nan_gradients_and_no_proof(cache: object, compile_source: Compile) -> None:
    """A check at NaN is inconclusive; the next call with numbers is checked."""
    source = "void f(const double* x, int n, double* y) { for (int i = 0; i < n; i++) y[i] = x[i] * x[i]; }\n"
    f = compile_source(source, "f")
    bad = torch.full((3,), float("nan"), dtype=torch.float64, requires_grad=True)
    with pytest.warns(ffgrad.GradientWarning, match="not proven"):
        f.apply(bad).sum().backward()
    assert bad.grad is not None and bad.grad.isnan().all()
    x = torch.ones(3, dtype=torch.float64, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f.apply(x).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [2.0] * 3


# The derivatives of `cube` are right, but a second derivative sees a constant where they call `slope`.
CUBIC = """
double slope(double x) { return 3 * x * x; }
double cube(double x) { return x * x * x; }
double cube_fwd(double x, double dx, double *dy) { *dy = slope(x) * dx; return cube(x); }
void cube_rev(double x, double *dx, double dy) { *dx += slope(x) * dy; }
void f(const double *x, int n, double a, double *y) { for (int i = 0; i < n; i++) y[i] = a * x[i] + cube(x[i]); }
"""


@pytest.mark.parametrize("slope", [0.0, 1.0])
def test_second_derivatives_that_are_zero_at_the_first_arguments_prove_nothing(
    slope: float, compile_source: Compile
) -> None:
    """Nor do first ones: a generic point nearby is verified, for second derivatives too."""
    rules = {"cube": ("cube_fwd", "cube_rev")}
    function = compile_source(CUBIC, "f", "x[n], a -> y[n]", derivatives=rules, inactive=["slope"])
    x = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    (gradient,) = torch.autograd.grad(function.apply(x, slope).sum(), x, create_graph=True)
    with pytest.raises(ffgrad.DifferentiationError, match="fails its check"):
        torch.autograd.grad(gradient.sum(), x)


def test_a_linear_function_has_second_derivatives(compile_source: Compile) -> None:
    """Zeros that are right, here and nearby, give no warning."""
    source = "void f(const double *x, int n, double *y) { for (int i = 0; i < n; i++) y[i] = 2 * x[i]; }"
    function = compile_source(source, "f", "x[n] -> y[n]")
    x = torch.ones(3, dtype=torch.float64)
    hessian = torch.func.hessian(lambda x: function(x).sum())(x)
    assert torch.equal(hessian, torch.zeros(3, 3, dtype=torch.float64))


def branchy(count: int) -> str:
    """A program with a function of many basic blocks, which has no derivative: Enzyme is quick with it."""
    branches = "\n".join(f"  if (n == {k}) last = {k};" for k in range(count))
    return f"""
static volatile int last;
__attribute__((noinline)) static void many(int n) {{
{branches}
}}
void branchy(const double* x, int n, double* y) {{
  many(n);
  for (int i = 0; i < n; i++) y[i] = x[i] * x[i];
}}
"""


def test_a_function_that_is_too_large_for_some_passes_is_checked_at_every_size(
    cache: Path, compile_source: Compile, tmp_path: Path
) -> None:
    """Not only at eight sizes; and ``ffgrad show`` says which passes skip it."""
    source = branchy(2100)
    f = compile_source(source, "branchy", "x[n] -> y[n]", name="branchy.c", pipeline="o1")
    for size in range(1, 12):
        x = torch.full((size,), 0.25, dtype=torch.float64, requires_grad=True)
        f.apply(x).sum().backward()
        assert x.grad is not None and x.grad.tolist() == [0.5] * size
    entry = cache.glob("v*/entries/*")
    choices = [json.loads(path.read_text()) for folder in entry for path in folder.glob("choice-*.json")]
    assert [len(choice["sizes"]) for choice in choices] == [11]
    path = tmp_path / "branchy.c"
    path.write_text(source)
    command = [Path(__file__).resolve().parents[2] / "target/release/ffgrad", "show", path, "branchy", "--derivative"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "basic blocks; above 2000 these passes skip a function: " in shown
    assert "pair-predecessors, opaque-latch" in shown
