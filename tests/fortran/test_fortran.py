"""Fortran only: names, memory order, intent, files that belong together, refusals, the example."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import ffgrad
import ffgrad.numpy
import numpy as np
import pytest
import scipy.optimize
import torch
from ffgrad.errors import CompileError, DifferentiationError, ForeignError, ShapeError, SignatureError
from ffgrad.torch import Enzyme, enzyme
from support.documents import as_program, misprints, steps_of
from support.fixtures import RunPython
from torture.faults.kills import ffgrad_command

Write = Callable[..., Path]
Compile = Callable[..., Enzyme]
CASES = Path(__file__).resolve().parents[1] / "cases" / "fortran"
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

WHERE = """\
subroutine where_is(a, b, address)
  use, intrinsic :: iso_c_binding
  implicit none
  real(8), intent(in), target :: a({shape})
  real(8), intent(out) :: b(size(a, 1), size(a, 2))
  integer(8), intent(out) :: address(1)
  b = 2 * a
  address(1) = transfer(c_loc(a), address(1))
end subroutine
"""


@pytest.mark.parametrize("shape", ["3, 4", ":, :"])
def test_a_column_major_tensor_is_passed_without_a_copy(shape: str, compile_source: Compile) -> None:
    """The ``.T`` of a contiguous (4, 3) is column-major, as Fortran's a(3, 4), with and without a descriptor."""
    f = compile_source(WHERE.format(shape=shape), "where_is", "a[3,4] -> b[3,4], address[1]", name="f.f90")
    a = torch.randn(4, 3, dtype=torch.float64).T
    f(a)
    before = ffgrad.copies()
    b, address = f(a)
    assert address.item() == a.data_ptr()
    assert ffgrad.copies() == before
    assert torch.equal(b, 2 * a) and b.stride() == (1, 3)


def test_a_row_major_tensor_is_copied_once_and_counted(compile_source: Compile) -> None:
    """The copy is made for the call; the caller's tensor stays where it is."""
    f = compile_source(WHERE.format(shape="3, 4"), "where_is", "a[3,4] -> b[3,4], address[1]", name="f.f90")
    a = torch.randn(3, 4, dtype=torch.float64)
    f(a)
    before = ffgrad.copies()["gathered"]
    b, address = f(a)
    assert address.item() != a.data_ptr() and torch.equal(b, 2 * a)
    assert ffgrad.copies()["gathered"] - before == 3 * 4 * 8


def test_numpy_gets_fortrans_memory_order_and_the_gradient() -> None:
    """The array's own memory where it is column-major; SciPy's differences as a reference."""
    rotate = ffgrad.numpy.enzyme(CASES / "column_major.f90", "rotate", "a[3,n], angle -> b")
    a = np.asfortranarray(np.random.default_rng(0).standard_normal((3, 4)))
    before = ffgrad.copies()["gathered"]
    value, pullback = rotate.vjp(a, 0.3)
    assert ffgrad.copies()["gathered"] == before and value.flags.f_contiguous
    weights = np.random.default_rng(1).standard_normal((3, 4))
    gradient = pullback(weights)[0]

    def moved(flat: np.ndarray) -> float:
        return float(np.sum(weights * rotate(flat.reshape(3, 4), 0.3)))

    differences = scipy.optimize.approx_fprime(a.ravel(), moved, 1e-7)
    np.testing.assert_allclose(gradient.ravel(), differences, atol=1e-5)


def test_names_match_in_any_case() -> None:
    """Procedure, arguments, symbols."""
    f = enzyme(CASES / "column_major.f90", "ROTATE", "A[3,N], Angle -> B")
    assert f.inputs == ["a", "angle"] and f.signature == "a[3,n], angle -> b[3,n]"


def test_the_manifest_shows_the_declarations() -> None:
    """Intent and bounds come from the source."""
    f = enzyme(CASES / "assumed_shape.f90", "linear::smooth")
    intents = [d["intent"] for d in f.manifest["prototype"]["fortran"]["dummies"]]
    assert intents == ["in", "in", "out"]
    assert f.signature == "u[u_1,u_2], w[w_1] -> v[u_1,u_2]"


def test_an_edited_include_file_is_a_new_build(write: Write) -> None:
    """All files that a source reads are in the cache's key."""
    write("  y = 2 * x\n", "body.inc")
    source = write(
        "subroutine f(x, y)\n  real(8), intent(in) :: x(:)\n  real(8), intent(out) :: y(size(x))\n"
        "  include 'body.inc'\nend subroutine\n",
        "f.f90",
    )
    x = torch.ones(3, dtype=torch.float64)
    assert enzyme(source, "f")(x).sum() == 6
    write("  y = 5 * x\n", "body.inc")
    assert enzyme(source, "f")(x).sum() == 15


def test_an_include_file_that_appears_in_an_earlier_folder_is_a_new_build(tmp_path: Path, write: Write) -> None:
    """Given by `-I` in two words, by a file of options, and beside the source."""
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
    (second / "gain.inc").write_text("  y = 2 * x\n")
    source = write(
        "subroutine f(x, y)\n  real(8), intent(in) :: x(:)\n  real(8), intent(out) :: y(size(x))\n"
        "  include 'gain.inc'\nend subroutine\n",
        "f.f90",
    )
    x = torch.ones(3, dtype=torch.float64)
    flags = ["-I", str(first), f"-I{second}"]
    assert enzyme(source, "f", flags=flags)(x).sum() == 6
    (first / "gain.inc").write_text("  y = 5 * x\n")
    assert enzyme(source, "f", flags=flags)(x).sum() == 15
    (source.parent / "gain.inc").write_text("  y = 7 * x\n")
    assert enzyme(source, "f", flags=flags)(x).sum() == 21


def test_a_source_with_the_time_of_compiling_is_another_program_each_time(write: Write) -> None:
    """flang takes no date from outside, so what an earlier time compiled is not used."""
    source = write(
        "real(8) function f(x)\n  real(8), intent(in) :: x\n  f = x * len(__TIME__)\nend function\n", "f.F90"
    )
    keys = set()
    for _ in range(2):
        f = enzyme(source, "f")
        assert f(torch.tensor(1.0, dtype=torch.float64)).item() == 8.0
        keys.add(f.manifest["key"])
    assert len(keys) == 2


BASE = "module base\n  real(8), parameter :: half = {half}d0\nend module\n"
GRID = "module grid\n  use base\n  real(8), parameter :: gain = 2 * half\nend module\n"
USER = (
    "subroutine f(x, y)\n  use grid, only: gain\n  real(8), intent(in) :: x(:)\n  real(8), intent(out) :: y\n"
    "  y = gain * sum(x**2)\nend subroutine\n"
)


@cache
def flang() -> Path:
    """Return the flang that ffgrad uses."""
    command: str = enzyme(CASES / "column_major.f90", "rotate", "A[3,N], Angle -> B").manifest["commands"][0]
    return Path(shlex.split(command)[0])


def modules(folder: Path, half: float) -> Path:
    """Compile two modules, the second of which uses the first, with ffgrad's own flang; only their module files stay."""
    folder.mkdir(exist_ok=True)
    texts = {"base.f90": BASE.format(half=half), "grid.f90": GRID}
    for name, text in texts.items():
        (folder / name).write_text(text)
    program = flang()
    libraries = [program.parents[1] / "lib", *program.parents[2].glob("*-linux-gnu")]
    environment = {**os.environ, "LD_LIBRARY_PATH": os.pathsep.join(map(str, libraries))}
    subprocess.run([program, "-fsyntax-only", *texts], cwd=folder, check=True, env=environment)
    for name in texts:
        (folder / name).unlink()
    return folder


def value_and_gradient(f: Callable[..., torch.Tensor]) -> tuple[float, list[float]]:
    """At (1, 2)."""
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    y = f(x)
    y.backward()
    assert x.grad is not None
    return y.item(), x.grad.tolist()


@pytest.mark.parametrize("given", ["include_dirs", "flag", "beside"])
def test_a_module_file_that_was_compiled_again_is_a_new_build(given: str, tmp_path: Path) -> None:
    """Also where it is the module behind the one that is used; the value of a constant is in the code."""
    source = tmp_path / "f.f90"
    source.write_text(USER)
    folder = tmp_path if given == "beside" else tmp_path / "modules"
    options = {"include_dirs": {"include_dirs": [folder]}, "flag": {"flags": [f"-I{folder}"]}, "beside": {}}[given]
    keys = []
    for half in (0.5, 1.5, 0.5):
        modules(folder, half)
        f = enzyme(source, "f", **options)  # type: ignore[arg-type]
        gain = 2 * half
        assert value_and_gradient(f) == (5 * gain, [2 * gain, 4 * gain])
        keys.append(f.manifest["key"])
    assert keys[0] == keys[2] != keys[1]


def test_a_module_file_in_an_earlier_folder_is_taken_and_one_in_the_working_folder_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files in the working folder must not change values that the cache has."""
    source = tmp_path / "f.f90"
    source.write_text(USER)
    first, second = tmp_path / "first", modules(tmp_path / "second", 0.5)
    first.mkdir()
    monkeypatch.chdir(modules(tmp_path / "here", 2.5))
    options = {"include_dirs": [first, second]}
    assert value_and_gradient(enzyme(source, "f", **options)) == (5.0, [2.0, 4.0])  # type: ignore[arg-type]
    modules(first, 1.5)
    assert value_and_gradient(enzyme(source, "f", **options)) == (15.0, [6.0, 12.0])  # type: ignore[arg-type]
    monkeypatch.chdir(tmp_path)
    relative = enzyme("f.f90", "f", include_dirs=["second"])
    assert value_and_gradient(relative) == (5.0, [2.0, 4.0])


def test_a_module_variable_is_a_constant(compile_source: Compile) -> None:
    """Its value at the start of the program counts."""
    f = compile_source(
        "module m\n  real(8) :: gain = 3\ncontains\n  subroutine f(x, y)\n    real(8), intent(in) :: x\n"
        "    real(8), intent(out) :: y\n    y = gain * x**2\n  end subroutine\nend module\n",
        "m::f",
        name="f.f90",
    )
    x = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.grad(f(x), x)[0] == 12


def test_second_derivatives_and_batches(compile_source: Compile) -> None:
    """Through a descriptor as through anything else."""
    f = compile_source(
        "subroutine f(x, y)\n  real(8), intent(in) :: x(:)\n  real(8), intent(out) :: y\n  y = sum(x**3)\nend subroutine\n",
        "f",
        name="f.f90",
    )
    x = torch.randn(4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradgradcheck(f, (x,))
    batch = torch.randn(5, 4, dtype=torch.float64)
    assert torch.allclose(torch.func.vmap(f)(batch), (batch**3).sum(1))


def test_a_syntax_error_has_the_compilers_words_and_the_line(compile_source: Compile) -> None:
    """As for C."""
    with pytest.raises(CompileError) as caught:
        compile_source(
            "subroutine f(x)\n  implicit none\n  real(8) :: x\n  x = z + 1\nend subroutine\n", "f", name="f.f90"
        )
    assert "No explicit type declared for 'z'" in str(caught.value) and "f.f90:4" in str(caught.value)


def test_a_missing_module_is_named_with_its_remedy(compile_source: Compile) -> None:
    """And with the line that uses it."""
    with pytest.raises(CompileError) as caught:
        compile_source("subroutine f(x)\n  use grid\n  real(8) :: x\nend subroutine\n", "f", name="f.f90")
    text = str(caught.value)
    assert caught.value.code == "missing-module"
    assert "uses the module `grid`" in text and "grid.f90" in text and "f.f90:2" in text


def test_a_procedure_of_a_module_that_is_not_used_is_told_from_one_without_source(compile_source: Compile) -> None:
    """It has a body, but the call is one of another procedure."""
    f = compile_source(
        "module heat\ncontains\n  pure function flux(x) result(q)\n    real(8), intent(in) :: x\n    real(8) :: q\n"
        "    q = x * x\n  end function\nend module\n"
        "function f(x) result(y)\n  real(8) :: x, y\n  real(8), external :: flux\n  y = flux(x)\nend function\n",
        "f",
        name="f.f90",
    )
    with pytest.raises(DifferentiationError, match="procedure of the module `heat`.*write `use heat`"):
        f.apply(torch.tensor(2.0, dtype=torch.float64, requires_grad=True)).backward()


def test_an_unknown_procedure_comes_with_the_closest_names() -> None:
    """By the names that a user would write."""
    with pytest.raises(CompileError, match="closest names are `linear::smooth`"):
        enzyme(CASES / "assumed_shape.f90", "linear::smoth")


def test_an_argument_that_no_tensor_can_be_is_refused(compile_source: Compile) -> None:
    """An allocatable dummy could be given another address."""
    source = "subroutine f(x, y)\n  real(8), allocatable :: x(:)\n  real(8), intent(out) :: y\n  y = sum(x)\nend subroutine\n"
    with pytest.raises(SignatureError, match="`x` has the type `real\\(8\\), allocatable`"):
        compile_source(source, "f", name="f.f90")


def test_a_wrong_rank_is_refused(compile_source: Compile) -> None:
    """A descriptor states its rank."""
    source = "subroutine f(x, y)\n  real(8), intent(in) :: x(:,:)\n  real(8), intent(out) :: y\n  y = sum(x)\nend subroutine\n"
    with pytest.raises(SignatureError, match="`x` has 1 dimensions in the signature, but it has 2 dimensions"):
        compile_source(source, "f", "x[n] -> y", name="f.f90")
    with pytest.raises(ShapeError):
        compile_source(source, "f", name="f.f90")(torch.ones(3, dtype=torch.float64))


TRAJECTORY = """\
subroutine f(u, p, n, path)
  integer, intent(in) :: n
  real(8), intent(in) :: u(2), p(4)
  real(8), intent(out) :: path(2, n)
  integer :: i
  path(:, 1) = u
  do i = 2, n
    path(1, i) = path(1, i - 1) * p(1) + path(2, i - 1) * p(2)
    path(2, i) = path(2, i - 1) * p(3) + p(4)
  end do
end subroutine
"""


@pytest.mark.parametrize(
    ("signature", "said"),
    [
        ("u[2], p[3] -> path[2,n]", r"`p` is `p\(4\)` in the source, but `p\[3\]`"),
        ("u[2], p[4] -> path[3,n]", r"`path` is `path\(2,n\)` in the source, but `path\[3,n\]`"),
        ("u[2], p[4] -> path[n,2]", r"but `path\[n,2\]` in the signature: give it as declared"),
    ],
)
def test_dimensions_that_contradict_the_source_are_refused(compile_source: Compile, signature: str, said: str) -> None:
    """They would put elements elsewhere, or let the procedure read and write behind them."""
    with pytest.raises(SignatureError, match=said):
        compile_source(TRAJECTORY, "f", signature, name="f.f90", sizes={"n": 4})
    f = compile_source(TRAJECTORY, "f", "u[2], p[4] -> path[2,n]", name="f.f90", sizes={"n": 4})
    assert f(torch.ones(2, dtype=torch.float64), torch.ones(4, dtype=torch.float64)).shape == (2, 4)


def test_the_folder_of_module_files_is_not_taken_for_damage(cache: Path, write: Write) -> None:
    """It stands in each entry of a Fortran source, and is no artifact."""
    code = "subroutine square(x, y)\n  real(8), intent(in) :: x\n  real(8), intent(out) :: y\n  y = x * x\nend subroutine\n"
    assert ffgrad.numpy.enzyme(write(code, "square.f90"), "square")(3.0) == 9.0
    assert list(cache.glob("v*/entries/*/modules"))
    done = subprocess.run([ffgrad_command(), "cache", "verify"], env=dict(os.environ), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_what_the_runtime_does_without_a_rule_is_refused_with_the_line(compile_source: Compile) -> None:
    """Random numbers: an unsupported call of flang's library."""
    f = compile_source(
        "subroutine f(x, y)\n  real(8), intent(in) :: x(:)\n  real(8), intent(out) :: y(size(x))\n"
        "  call random_number(y)\n  y = y * x\nend subroutine\n",
        "f",
        name="f.f90",
    )
    with pytest.raises(DifferentiationError) as caught:
        f(torch.ones(3, dtype=torch.float64, requires_grad=True))
    assert "RandomNumber" in str(caught.value) and "f.f90:4" in str(caught.value)


def test_a_growing_array_has_a_gradient(compile_source: Compile) -> None:
    """Flang's runtime would build it, element by element."""
    f = compile_source(
        "subroutine f(x, y)\n  real(8), intent(in) :: x(:)\n  real(8), intent(out) :: y\n  real(8), allocatable :: b(:)\n"
        "  integer :: i\n  b = [real(8) ::]\n  do i = 1, size(x)\n    b = [b, x(i)**2]\n  end do\n  y = sum(b)\nend subroutine\n",
        "f",
        name="f.f90",
    )
    for n in (3, 9):
        x = torch.linspace(1, 2, n, dtype=torch.float64, requires_grad=True)
        y = f(x)
        y.backward()
        assert torch.allclose(y, (x**2).sum()) and x.grad is not None and torch.allclose(x.grad, 2 * x)


def test_an_output_that_is_read_back_has_its_values_in_the_derivative() -> None:
    """Its stores are kept. Both modes were wrong alike, by less than the check sees where `x` is small; so there is no check here."""
    f = ffgrad.numpy.enzyme(CASES / "output_as_variable.f90", "settle", verify="off", pipeline="inlined")
    for x in (np.array([0.02, 0.03, 0.04]), np.array([0.6, 0.7, 0.9])):
        y, pull = f.vjp(x)
        expected = 1 / (1 + np.cos(y))
        assert np.allclose(pull(np.ones(3))[0], expected, rtol=1e-12)
        assert np.allclose(f.jvp((x,), (np.ones(3),))[1], expected, rtol=1e-12)


STOPS = """\
subroutine f(x, y)
  implicit none
  real(8), intent(in) :: x(:)
  real(8), intent(out) :: y(size(x))
  integer :: i
  do i = 1, size(x)
    if (x(i) < 0) stop 3
    if (x(i) > 100) error stop 'too large'
    y(i) = sqrt(x(i)) * x(i)
  end do
  if (size(x) == 5) call exit(2)
end subroutine
"""


@pytest.mark.parametrize(
    ("values", "words"), [([1, -1], "STOP 3"), ([1, 101], "ERROR STOP too large"), ([1] * 5, "EXIT 2")]
)
def test_stop_is_an_exception_and_the_process_goes_on(values: list[float], words: str, compile_source: Compile) -> None:
    """With and without a gradient; the next call works."""
    f = compile_source(STOPS, "f", name="f.f90")
    for wanted in (False, True):
        with pytest.raises(ForeignError, match=words):
            f(torch.tensor(values, dtype=torch.float64, requires_grad=wanted))
    assert torch.autograd.gradcheck(
        f, (torch.rand(4, dtype=torch.float64) + 0.5).requires_grad_(), check_forward_ad=True
    )


def test_a_missing_flang_says_how_to_get_one(tmp_path: Path) -> None:
    """In a process whose FFGRAD_FLANG names no program."""
    code = (
        "from ffgrad.torch import enzyme; from ffgrad.errors import ToolchainError\n"
        f"try: enzyme({str(CASES / 'column_major.f90')!r}, 'rotate')\n"
        "except ToolchainError as error: print(error)\n"
    )
    env = {**os.environ, "FFGRAD_FLANG": str(tmp_path / "nowhere"), "FFGRAD_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=300)
    assert "ffgrad toolchain install fortran" in done.stdout, done.stdout + done.stderr


def test_the_document_prints_what_it_says(tmp_path: Path, run_python: RunPython) -> None:
    """``docs/fortran.md``: the text below each block is what the block prints."""
    steps = steps_of("fortran.md", tmp_path)
    assert misprints(steps, run_python(as_program(steps)).stdout) == []


def run_example(name: str, *arguments: str) -> str:
    """Run an example in a process of its own, and return what it prints."""
    command = [sys.executable, str(EXAMPLES / name), *arguments]
    env = {**os.environ, "MPLBACKEND": "Agg"}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_example_calibrates_its_model() -> None:
    """The misfit comes down to the noise."""
    last = float(run_example("fortran/calibrate.py").split("->")[1].split()[0])
    assert last < 0.004


def test_the_example_of_fortran_77_finds_its_map(tmp_path: Path) -> None:
    """COMMON blocks that a call writes, labels and GO TO: twelve of its 150 iterations."""
    printed = run_example("aquifer/invert.py", "--iterations", "12", "--out", str(tmp_path))
    assert float(printed.split("residuals ")[1].split()[0]) < 5
    assert float(printed.split("factor of ")[1].split()[0]) < 1.5
    assert (tmp_path / "aquifer.png").stat().st_size > 10_000
