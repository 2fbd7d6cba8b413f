"""Custom derivatives: second derivatives of every such case, refusals, and which rules are linked."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from ffgrad.errors import CompileError, DifferentiationError
from ffgrad.torch import enzyme
from support.loader import Case, load_cases
from test_conformance import EXACT, opened, tensors
from torch.autograd import gradcheck, gradgradcheck

WITH_RULES = [case for case in EXACT if "rules" in case.tags]

LOOKUP = """
double lookup(double x) { return x * x; }
double lookup_fwd(double x, double dx, double *dy) { *dy = 2 * x * dx; return lookup(x); }
void lookup_rev(double x, double *dx, double dy) { *dx += 2 * x * dy; }
void twice_rev(double x, double *dx, double dy) { *dx += 4 * x * dy; }
double twice_fwd(double x, double dx, double *dy) { *dy = 4 * x * dx; return lookup(x); }
double other(double x) { return x * x * x; }
double other_fwd(double x, double dx, double *dy) { *dy = 3 * x * x * dx; return other(x); }
void other_rev(double x, double *dx, double dy) { *dx += 3 * x * x * dy; }
void f(const double *x, int n, double *y) { for (int i = 0; i < n; i++) y[i] = lookup(x[i]) + other(x[i]); }
"""
OTHER = {"other": ("other_fwd", "other_rev")}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Return a file with functions, right and wrong derivatives of them."""
    path = tmp_path / "lookup.c"
    path.write_text(LOOKUP)
    return path


@pytest.mark.parametrize("case", WITH_RULES, ids=str)
def test_second_derivatives_pass_gradgradcheck(case: Case) -> None:
    """Forward over reverse goes through the rules' own code, which may use functions with rules again."""
    inputs = tensors(case)
    if "first-order" in case.tags:
        with pytest.raises(DifferentiationError):
            gradgradcheck(opened(case.name).apply, inputs, fast_mode=True)
        return
    assert gradgradcheck(opened(case.name).apply, inputs, atol=1e-4, rtol=1e-3, fast_mode=True)


@pytest.mark.parametrize("case", WITH_RULES, ids=str)
def test_a_second_derivative_may_go_along_the_input_itself(case: Case) -> None:
    """For a rule, a shadow pointer equal to the pointer means that there is no derivative; a caller may pass one array for both."""
    if "first-order" in case.tags:
        pytest.skip("has no second derivatives")
    inputs = tensors(case)
    values = [x.detach() for x in inputs]
    active = [i for i, x in enumerate(inputs) if x.requires_grad]

    def gradient(*moving: torch.Tensor) -> tuple[torch.Tensor, ...]:
        def loss(*moving: torch.Tensor) -> torch.Tensor:
            whole = list(values)
            for i, x in zip(active, moving, strict=True):
                whole[i] = x
            outputs = opened(case.name)(*whole)
            outputs = outputs if isinstance(outputs, tuple) else (outputs,)
            return torch.stack([(y**2).sum() for y in outputs if y.is_floating_point()]).sum()

        return torch.func.grad(loss, tuple(range(len(moving))))(*moving)

    moving = tuple(values[i] for i in active)
    _, shared = torch.func.jvp(gradient, moving, moving)
    _, apart = torch.func.jvp(gradient, moving, tuple(x.clone() for x in moving))
    for one, other in zip(shared, apart, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=0)


@pytest.mark.parametrize(
    ("given", "half", "line"),
    [
        (("lookup_fwd", "twice_rev"), "reverse", 5),
        (("twice_fwd", "lookup_rev"), "forward", 6),
        (("twice_fwd", "twice_rev"), "forward and the reverse", 5),
    ],
)
def test_a_wrong_derivative_is_refused_and_named(source: Path, given: tuple[str, str], half: str, line: int) -> None:
    """Verification of the whole finds that something is wrong; dropping one rule at a time finds which."""
    function = enzyme(source, "f", derivatives={"lookup": given, **OTHER})
    with pytest.raises(DifferentiationError, match=f"the {half} derivative given for `lookup` is wrong") as caught:
        function.apply(torch.linspace(0.5, 1.5, 4, dtype=torch.float64, requires_grad=True)).sum().backward()
    assert caught.value.code == "wrong-derivative"
    assert caught.value.line == line


def test_a_rule_is_checked_alone_by_opening_its_function(source: Path) -> None:
    """The function that has the rule may be the one that is differentiated."""
    x = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
    right = enzyme(source, "lookup", "x -> return", derivatives={"lookup": ("lookup_fwd", "lookup_rev")})
    assert gradcheck(right.apply, (x,), check_forward_ad=True)
    wrong = enzyme(source, "lookup", "x -> return", derivatives={"lookup": ("lookup_fwd", "twice_rev")})
    with pytest.raises(DifferentiationError, match="the reverse derivative given for `lookup` is wrong"):
        wrong.apply(x).backward()


def test_the_rule_is_what_is_used(tmp_path: Path) -> None:
    """With checks off, a wrong rule shows: it is not the function's own code that is differentiated."""
    path = tmp_path / "lookup.c"
    path.write_text(LOOKUP)
    x = torch.tensor([0.5], dtype=torch.float64, requires_grad=True)
    derivatives = {"lookup": ("twice_fwd", "twice_rev")}
    enzyme(path, "f", derivatives=derivatives, verify="off").apply(x).sum().backward()
    assert x.grad is not None
    assert x.grad.item() == pytest.approx(4 * 0.5 + 3 * 0.25)


def test_a_missing_part_is_refused_with_the_closest_names(source: Path) -> None:
    """At once, before anything is called."""
    with pytest.raises(CompileError, match="`lookup_back`, which is not defined") as caught:
        enzyme(source, "f", derivatives={"lookup": ("lookup_fwd", "lookup_back")})
    assert caught.value.code == "missing-rule-part" and "`lookup_fwd`" in str(caught.value)


def test_an_unknown_function_is_refused(source: Path) -> None:
    """A rule for a function that the source neither defines nor calls is a typing error."""
    with pytest.raises(CompileError, match="`derivatives` names `lokup`"):
        enzyme(source, "f", derivatives={"lokup": ("lookup_fwd", "lookup_rev")})


def test_a_wrong_prototype_is_refused_with_its_line(source: Path) -> None:
    """Expected and found prototype, and where the found one is."""
    with pytest.raises(CompileError, match="does not have the prototype of the forward derivative") as caught:
        enzyme(source, "f", derivatives={"lookup": ("lookup_rev", "lookup_rev")})
    assert caught.value.line == 4 and caught.value.expected == "double lookup_rev(double, double, pointer)"


def test_a_wrong_number_of_parts_is_refused(source: Path) -> None:
    """Two or three functions make a rule."""
    with pytest.raises(CompileError, match="`derivatives` gives 1 functions"):
        enzyme(source, "f", derivatives={"lookup": ("lookup_fwd",)})


def test_a_function_with_structures_cannot_have_a_rule(tmp_path: Path) -> None:
    """Not what the convention can pass."""
    path = tmp_path / "pair.c"
    path.write_text(
        "typedef struct { double a[4]; } big; double g(big b) { return b.a[0]; }\n"
        "double g_fwd(double x) { return x; }\nvoid g_rev(double x) {}\n"
        "double f(double x) { big b = {{x}}; return g(b); }\n"
    )
    with pytest.raises(CompileError, match="`g` cannot have a derivative of its own"):
        enzyme(path, "f", "x -> return", derivatives={"g": ("g_fwd", "g_rev")})


def test_an_unknown_inactive_function_is_refused(source: Path) -> None:
    """With the closest names."""
    with pytest.raises(CompileError, match="`lokup` is marked inactive") as caught:
        enzyme(source, "f", inactive=["lokup"])
    assert "`lookup`" in str(caught.value)


def test_freed_memory_and_rules_need_the_arena() -> None:
    """Without the arena, memory that a rule reads in the reverse sweep could be freed before."""
    (case,) = load_cases(names=["rule_saving"])
    function = enzyme(case.source, case.function, case.signature, arena=False)
    with pytest.raises(DifferentiationError, match="needs the arena, but arena=False"):
        function.apply(*tensors(case)).backward()


def test_a_reverse_derivative_that_reads_what_was_overwritten_is_caught(tmp_path: Path) -> None:
    """And the message says what to do: save."""
    path = tmp_path / "late.c"
    path.write_text(
        "double energy(const double *u, int n) { double s = 0; for (int i = 0; i < n; i++) s += u[i] * u[i]; return s; }\n"
        "double energy_fwd(const double *u, const double *du, int n, double *ds) {\n"
        "  *ds = 0; for (int i = 0; i < n; i++) *ds += du ? 2 * u[i] * du[i] : 0; return energy(u, n); }\n"
        "void energy_rev(const double *u, double *du, int n, double ds) {\n"
        "  for (int i = 0; du && i < n; i++) du[i] += 2 * u[i] * ds; }\n"
        "double f(const double *x, int n) { double u[8], s = 0; for (int t = 1; t < 4; t++) {\n"
        "  for (int i = 0; i < n; i++) u[i] = t * x[i] * x[i]; s += energy(u, n); } return s; }\n"
    )
    function = enzyme(path, "f", "x[n] -> return", derivatives={"energy": ("energy_fwd", "energy_rev")})
    x = torch.linspace(0.5, 1.5, 4, dtype=torch.float64, requires_grad=True)
    with pytest.raises(DifferentiationError, match="must be kept by a saving function"):
        function.apply(x).backward()


def test_a_failed_factorisation_has_no_derivative(tmp_path: Path) -> None:
    """A matrix that is not positive definite gives not-a-number, never an unrelated gradient."""
    path = tmp_path / "factor.c"
    path.write_text(
        "void dpotrf_(const char *, const int *, double *, const int *, int *);\n"
        'void f(double *S, int n) { int info; dpotrf_("L", &n, S, &n, &info); }\n'
    )
    function = enzyme(path, "f", "S[n,n] -> S[n,n]")
    good = torch.tensor([[2.0, 0.3], [0.3, 1.0]], dtype=torch.float64, requires_grad=True)
    function.apply(good).sum().backward()
    assert good.grad is not None and good.grad.isfinite().all()
    bad = torch.tensor([[1.0, 2.0], [2.0, 1.0]], dtype=torch.float64, requires_grad=True)
    function.apply(bad).sum().backward()
    assert bad.grad is not None and bad.grad.isnan().any()


def test_the_library_is_linked_only_when_used(source: Path) -> None:
    """Only functions that call BLAS are linked with OpenBLAS."""
    (case,) = load_cases(names=["blas_gemm"])
    assert any("openblas" in argument for argument in opened(case.name).manifest["link"])
    plain = enzyme(source, "f").manifest
    assert plain["link"] == [] and plain["library"] == [] and plain["renamed"] == []
