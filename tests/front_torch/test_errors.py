"""Every refusal: class, attributes, and the whole text as a golden (``../support/goldens.py``).

Enzyme's messages are in ``test_engine_messages.py``. The sources that go wrong are in
``../cases/negative``.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import ffgrad
import pytest
import torch
from ffgrad import errors
from ffgrad.torch import Enzyme, enzyme
from support.fixtures import Compile, RunPython
from support.goldens import GOLDENS, NEGATIVE, Golden
from support.programs import CUBE, DECAY, DECAY_SIGNATURE, PAIR, PAIR_SIGNATURE


def vector(*shape: int, grad: bool = False) -> torch.Tensor:
    """Ones in double precision."""
    return torch.ones(*shape, dtype=torch.float64, requires_grad=grad)


@pytest.fixture
def cube(compile_source: Compile) -> Enzyme:
    """y = x**3, with a signature."""
    return compile_source(CUBE, "cube", "x[n] -> y[n]")


@pytest.fixture
def pair(compile_source: Compile) -> Enzyme:
    """Two inputs of one length."""
    return compile_source(PAIR, "pair", PAIR_SIGNATURE)


# --- calls that do not fit ----------------------------------------------------------------------------


def test_a_wrong_dtype_names_parameter_expected_and_found(cube: Enzyme, golden: Golden) -> None:
    """Never a silent conversion."""
    with pytest.raises(ffgrad.DtypeError) as caught:
        cube.apply(vector(3).float())
    error = caught.value
    assert (error.code, error.function, error.found) == ("dtype", "cube", "float32")
    assert "float64" in (error.expected or "") and error.hints
    assert isinstance(error, TypeError) and isinstance(error, ffgrad.Error)
    golden("wrong_dtype", error)


@pytest.mark.parametrize("dtype", [torch.complex128, torch.bfloat16], ids=["complex128", "bfloat16"])
def test_a_dtype_that_no_function_has_is_named(cube: Enzyme, golden: Golden, dtype: torch.dtype) -> None:
    """C has no such parameter type that a tensor could be passed for."""
    with pytest.raises(ffgrad.DtypeError) as caught:
        cube.apply(torch.ones(3, dtype=dtype))
    assert caught.value.code == "dtype" and str(dtype) in str(caught.value)
    golden(f"dtype_{str(dtype).removeprefix('torch.')}", caught.value)


def test_a_number_for_an_array_is_refused(cube: Enzyme, golden: Golden) -> None:
    """An array parameter needs an array."""
    with pytest.raises(ffgrad.DtypeError) as caught:
        cube.apply(1.0)
    golden("number_for_array", caught.value)


def test_a_float_for_an_integer_is_refused(compile_source: Compile, golden: Golden) -> None:
    """1.5 is not an integer."""
    source = "void power(const double* x, int n, int k, double* y) {\n"
    source += "  for (int i = 0; i < n; i++) { y[i] = 1; for (int j = 0; j < k; j++) y[i] *= x[i]; }\n}\n"
    power = compile_source(source, "power", "x[n], k -> y[n]")
    assert power.apply(2 * vector(2), 3).tolist() == [8.0, 8.0]
    with pytest.raises(ffgrad.DtypeError) as caught:
        power.apply(vector(2), 1.5)
    golden("float_for_integer", caught.value)
    with pytest.raises(ffgrad.DtypeError) as caught:
        power.apply(vector(2), 2**40)
    golden("integer_too_large", caught.value)


def test_shapes_that_contradict_each_other_name_both(pair: Enzyme, golden: Golden) -> None:
    """A symbol bound twice."""
    with pytest.raises(ffgrad.ShapeError) as caught:
        pair.apply(vector(3), vector(4))
    error = caught.value
    assert error.argument == "b" and isinstance(error, ValueError)
    text = str(error)
    assert "3 in `a[n]`" in text and "4 in `b[n]`" in text
    golden("shape_contradiction", error)


def test_a_wrong_rank_names_the_declared_shape(cube: Enzyme, golden: Golden) -> None:
    """A matrix for x[n], and a scalar."""
    with pytest.raises(ffgrad.ShapeError) as caught:
        cube.apply(vector(3, 2))
    assert caught.value.argument == "x"
    golden("wrong_rank", caught.value)
    with pytest.raises(ffgrad.ShapeError) as caught:
        cube.apply(torch.tensor(1.0, dtype=torch.float64))
    golden("scalar_for_array", caught.value)


def test_an_array_for_a_scalar_is_refused(compile_source: Compile, golden: Golden) -> None:
    """A scalar is a 0-d tensor or a number."""
    decay = compile_source(DECAY, "decay", DECAY_SIGNATURE)
    with pytest.raises(ffgrad.ShapeError) as caught:
        decay.apply(vector(3), vector(1), 0.5)
    assert caught.value.argument == "amplitude"
    golden("array_for_scalar", caught.value)


def test_a_fixed_extent_is_checked(compile_source: Compile, golden: Golden) -> None:
    """x[n,3] takes three columns."""
    source = "void f(const double* x, int n, double* y) { for (int i = 0; i < n; i++) y[i] = x[3 * i]; }\n"
    f = compile_source(source, "f", "x[n,3] -> y[n]")
    with pytest.raises(ffgrad.ShapeError) as caught:
        f.apply(vector(5, 2))
    golden("fixed_extent", caught.value)


@pytest.mark.parametrize("count", [1, 3])
def test_a_wrong_number_of_inputs_lists_them(pair: Enzyme, golden: Golden, count: int) -> None:
    """Too few and too many."""
    with pytest.raises(ffgrad.SignatureError) as caught:
        pair.apply(*[vector(3)] * count)
    error = caught.value
    assert error.code == "arity" and error.function == "pair"
    golden(f"arity_{count}", error)


def test_an_object_that_is_no_tensor_is_a_type_error(cube: Enzyme, golden: Golden) -> None:
    """Lists, strings and None, by the parameter's name."""
    for wrong in ([1.0, 2.0], "x", None, {}):
        with pytest.raises(TypeError, match="`x`") as caught:
            cube.apply(wrong)  # type: ignore[arg-type]
    golden("no_tensor", caught.value)


def test_a_sparse_tensor_is_refused_clearly(cube: Enzyme) -> None:
    """Without a C++ stack trace, with the parameter's name."""
    with pytest.raises((ffgrad.Error, TypeError)) as caught:
        cube.apply(vector(3).to_sparse())
    assert "`x`" in str(caught.value) and "frame #" not in str(caught.value)


# --- sources that do not do ---------------------------------------------------------------------------


def refusal(kind: type[errors.Error], file: str, function: str, *arguments: object, **options: object) -> errors.Error:
    """Open a source of ``cases/negative`` and return the refusal."""
    with pytest.raises(kind) as caught:
        enzyme(NEGATIVE / file, function, *arguments, **options)  # type: ignore[arg-type]
    assert caught.value.function == function
    return caught.value


def test_a_missing_file_offers_the_closest(golden: Golden) -> None:
    """A typing mistake in the path."""
    error = refusal(ffgrad.CompileError, "sintax_error.c", "scale")
    assert error.code == "no-such-file" and any("syntax_error.c" in hint for hint in error.hints)
    golden("no_such_file", error)


def test_a_missing_folder_is_distinguished_from_a_missing_file(golden: Golden, tmp_path: Path) -> None:
    """The folder is what has to be fixed."""
    with pytest.raises(ffgrad.CompileError) as caught:
        enzyme(tmp_path / "nowhere" / "f.c", "f")
    golden("no_such_folder", caught.value)


def test_a_missing_function_offers_the_closest(golden: Golden) -> None:
    """`simualte` for `simulate`."""
    error = refusal(ffgrad.CompileError, "typo.c", "simualte")
    assert error.code == "no-such-function" and any("`simulate`" in hint for hint in error.hints)
    golden("no_such_function", error)


def test_an_ambiguous_name_lists_the_overloads(golden: Golden) -> None:
    """Each in the form in which it can be asked for."""
    error = refusal(ffgrad.CompileError, "ambiguous.cpp", "ns::f")
    assert error.code == "ambiguous-function"
    golden("ambiguous", error)
    candidates = re.findall(r"`(ns::f\(.*?\))`", str(error))
    assert len(candidates) == 2
    for candidate in candidates:
        enzyme(NEGATIVE / "ambiguous.cpp", candidate)


def test_a_syntax_error_is_clangs_own_with_file_and_line(golden: Golden) -> None:
    """What the compiler said, and where."""
    error = refusal(ffgrad.CompileError, "syntax_error.c", "scale")
    assert error.code == "syntax" and error.line == 4
    assert error.file is not None and Path(error.file).name == "syntax_error.c"
    assert "expected ';'" in (error.output or "")
    golden("syntax_error", error)


def test_a_missing_header_leads_to_include_dirs(golden: Golden) -> None:
    """The header's name, the line that includes it."""
    error = refusal(ffgrad.CompileError, "missing_header.c", "scale")
    assert error.code == "missing-header" and error.line == 2
    assert any("include_dirs" in hint for hint in error.hints)
    golden("missing_header", error)


def test_a_parameter_that_no_tensor_fits_is_named(golden: Golden) -> None:
    """A pointer to a struct."""
    error = refusal(ffgrad.SignatureError, "unsupported_param.c", "predict")
    assert "`model`" in str(error)
    golden("unsupported_param", error)


def test_a_signature_shows_all_its_problems_at_once(golden: Golden, compile_source: Compile) -> None:
    """Three mistakes, three lines, the prototype, and a signature to paste."""
    with pytest.raises(ffgrad.SignatureError) as caught:
        compile_source(PAIR, "pair", "A[n], b[q] -> product[k], mixed[n]; work[2*n]")
    error = caught.value
    assert len(error.problems) >= 3
    assert error.prototype is not None and "pair(const double *a" in error.prototype
    assert error.suggestion is not None
    golden("bad_signature", error)
    compile_source(PAIR, "pair", error.suggestion)


def test_a_signature_that_does_not_parse_is_marked(golden: Golden, compile_source: Compile) -> None:
    """With a caret under the column."""
    with pytest.raises(ffgrad.SignatureError) as caught:
        compile_source(PAIR, "pair", "a[n, b[n] -> product[n] mixed[n]")
    golden("signature_syntax", caught.value)


def test_an_unknown_option_lists_the_known_ones(golden: Golden, compile_source: Compile) -> None:
    """And a wrong value of a known one."""
    with pytest.raises(TypeError) as caught:
        compile_source(CUBE, "cube", verfy="off")
    golden("unknown_option", caught.value)
    with pytest.raises(TypeError) as caught:
        compile_source(CUBE, "cube", verify="sometimes")
    golden("wrong_option_value", caught.value)


# --- functions that cannot be differentiated ----------------------------------------------------------


def simulate_arguments(grad: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Inputs of missing_body.c."""
    return vector(3), vector(4, grad=grad)


def test_a_function_without_body_is_undefined_when_called(golden: Golden) -> None:
    """Without a gradient: nothing to link."""
    simulate = enzyme(NEGATIVE / "missing_body.c", "simulate", "table[3], x[n] -> y[n]")
    with torch.no_grad(), pytest.raises(ffgrad.CompileError) as caught:
        simulate.apply(*simulate_arguments(grad=False))
    error = caught.value
    assert error.code == "undefined-symbol" and "`lookup`" in str(error)
    golden("missing_body_primal", error)


def test_a_function_without_body_and_derivative_shows_the_users_line(golden: Golden) -> None:
    """With a gradient: the call, and what to give."""
    simulate = enzyme(NEGATIVE / "missing_body.c", "simulate", "table[3], x[n] -> y[n]")
    with pytest.raises(ffgrad.DifferentiationError) as caught:
        simulate.apply(*simulate_arguments(grad=True))
    error = caught.value
    assert error.code == "missing-derivative" and error.function == "simulate" and error.line == 7
    assert error.file is not None and Path(error.file).name == "missing_body.c"
    assert "y[i] = lookup(table, x[i]);" in str(error) and "`lookup`" in str(error)
    golden("missing_body_gradient", error)


def test_the_missing_body_may_come_from_a_second_file() -> None:
    """What the error advises works."""
    files = [NEGATIVE / "missing_body.c", NEGATIVE / "lookup.c"]
    simulate = enzyme(files, "simulate", "table[3], x[n] -> y[n]")
    table, x = simulate_arguments(grad=True)
    simulate.apply(table, x).sum().backward()
    torch.testing.assert_close(x.grad, 3 * vector(4))


def test_inline_assembly_is_named(golden: Golden) -> None:
    """Enzyme aborts; the caller does not, and the function still has values."""
    root = enzyme(NEGATIVE / "inline_asm.c", "square_root")
    with pytest.raises(ffgrad.DifferentiationError) as caught:
        root.apply(vector(3, grad=True))
    assert caught.value.code == "inline-assembly"
    golden("inline_asm", caught.value)
    assert root.apply(4 * vector(2)).tolist() == [8.0, 8.0]


def test_arithmetic_on_bits_is_refused_or_right() -> None:
    """Integers read as doubles: Enzyme cannot deduce their type."""
    flip = enzyme(NEGATIVE / "bit_tricks.c", "flip")
    with pytest.raises(ffgrad.DifferentiationError) as caught:
        flip.apply(1.5 * vector(3, grad=True).detach().requires_grad_())
    assert caught.value.function == "flip" and caught.value.hints


# --- exceptions of the foreign code -------------------------------------------------------------------


def test_a_cpp_exception_is_a_python_exception_and_the_next_call_works(golden: Golden) -> None:
    """With its what(); the process survives, forward and backward."""
    log_density = enzyme(NEGATIVE / "throwing.cpp", "log_density")
    with torch.no_grad():
        with pytest.raises(ffgrad.ForeignError) as caught:
            log_density.apply(-vector(3))
        assert "log_density: x[0] is negative" in str(caught.value)
        assert isinstance(caught.value, RuntimeError)
        golden("throwing", caught.value)
        assert log_density.apply(vector(3)).tolist() == [0.0] * 3

    with pytest.raises(ffgrad.ForeignError):
        log_density.apply((-vector(3)).requires_grad_())
    x = (2 * vector(3)).requires_grad_()
    for _ in range(2):
        (gradient,) = torch.autograd.grad(log_density.apply(x).sum(), x)
        assert gradient.tolist() == [0.5] * 3
        with pytest.raises(ffgrad.ForeignError):
            log_density.apply((-vector(3)).requires_grad_())


# --- tools --------------------------------------------------------------------------------------------


def test_a_missing_tool_comes_with_the_command_that_gets_it(run_python: RunPython, tmp_path: Path) -> None:
    """An empty tool folder, a PATH without clang, an empty cache."""
    source = tmp_path / "f.c"
    source.write_text(CUBE)
    for folder in ("tools", "bin"):
        (tmp_path / folder).mkdir()
    hidden = {name: None for name in os.environ if name.startswith("FFGRAD_")}
    env = {
        **hidden,
        "FFGRAD_TOOLS_DIR": str(tmp_path / "tools"),
        "FFGRAD_CACHE_DIR": str(tmp_path / "cache"),
        "PATH": str(tmp_path / "bin"),
    }
    child = run_python(
        f"""
import ffgrad
from ffgrad.torch import enzyme
try:
    enzyme({str(source)!r}, "cube")
except ffgrad.ToolchainError as error:
    print(error)
else:
    print("found")
""",
        env,
    )
    if child.stdout.strip() == "found":
        pytest.skip("this system has clang and Enzyme where they are always looked for")
    assert "was not found" in child.stdout
    assert "ffgrad toolchain install" in child.stdout


def test_a_missing_enzyme_is_a_toolchain_error(compile_source: Compile, golden: Golden) -> None:
    """The path of a plugin, mistyped."""
    with pytest.raises(ffgrad.ToolchainError) as caught:
        compile_source(CUBE, "cube", engine="/nowhere/LLVMEnzyme-22.so").apply(vector(2, grad=True))
    golden("missing_plugin", caught.value)


def test_a_library_that_is_not_there_is_named(compile_source: Compile, golden: Golden) -> None:
    """By the linker's own words."""
    with pytest.raises(ffgrad.CompileError) as caught:
        compile_source(CUBE, "cube", libraries=["nonesuch"])
    assert caught.value.code == "link" and "nonesuch" in str(caught.value)


# --- the tree -----------------------------------------------------------------------------------------


def test_every_exception_is_an_ffgrad_error() -> None:
    """One tree, under one name."""
    names = ["Toolchain", "Compile", "Signature", "Shape", "Dtype", "Differentiation", "Foreign", "Cache", "Device"]
    for name in names:
        assert issubclass(getattr(ffgrad, f"{name}Error"), ffgrad.Error)


def test_every_golden_is_used() -> None:
    """A golden that no test names is a leftover."""
    files = (
        "front_torch/test_errors.py",
        "system/test_engine_messages.py",
        "system/test_mistakes.py",
        "system/test_worker_faults.py",
    )
    text = "".join((GOLDENS.parent / name).read_text() for name in files)
    stems = {path.stem for path in GOLDENS.glob("*.txt")}
    prefixes = ("arity_", "dtype_", "worker_crash_")
    named = {stem for stem in stems if f'"{stem}"' in text or f'"{stem}.txt"' in text}
    left = {stem for stem in stems - named if not stem.startswith(prefixes)}
    assert not left


@pytest.mark.parametrize("grad", [False, True])
def test_tensors_that_are_more_than_arrays_are_refused(grad: bool, compile_source: Compile) -> None:
    """Masked and nested ones, by name, with what to call in their place."""
    cube = compile_source(CUBE, "cube")
    x = torch.linspace(0, 1, 3, dtype=torch.float64)
    mask = torch.tensor([True, False, True])
    unusual = [(torch.masked.masked_tensor(x, mask, requires_grad=grad), "masked tensor", "to_tensor")]
    for layout in (torch.strided, torch.jagged):
        nested = torch.nested.nested_tensor([x, x[:2]], layout=layout, requires_grad=grad)
        unusual.append((nested, "nested tensor", "unbind"))
    for tensor, what, hint in unusual:
        with pytest.raises(ffgrad.DtypeError, match=f"`x` of `cube` is a {what}") as caught:
            cube(tensor)
        assert hint in caught.value.hints[0]
