"""Packs: built here, opened in processes that have no compiler, no tools and no cache; every refusal is a typed error."""

from __future__ import annotations

import ctypes
import hashlib
import json
import pickle
import shlex
import shutil
import subprocess
from functools import cache as once
from pathlib import Path
from typing import Any

import ffgrad
import numpy as np
import pytest
import torch
from ffgrad.numpy import enzyme as numpy_enzyme
from ffgrad.torch import enzyme
from support.cuda_cases import opened, ptx_of
from support.fixtures import Compile, RunPython, Write
from support.loader import load_cases
from support.programs import CUBE, PAIR, PAIR_SIGNATURE

# What a machine without any tool looks like from inside a process.
BARE = {
    "PATH": "",
    "HOME": "/nonexistent",
    "XDG_CACHE_HOME": "/nonexistent",
    "FFGRAD_CACHE_DIR": "/proc/nonexistent",
    "FFGRAD_TOOLS_DIR": "/nonexistent",
    "FFGRAD_CLANG": "/nonexistent/clang",
}
COMMAND = Path(__file__).parents[2] / "target/release/ffgrad"
FORMS = ["model.ffpack", "model.zip", "model.tar"]


def vector(*values: float) -> torch.Tensor:
    """Make a double-precision vector with a gradient."""
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


@pytest.fixture
def packed_cube(compile_source: Compile, tmp_path: Path) -> Path:
    """Return a pack with the cube, proven, for second derivatives too."""
    cube = compile_source(CUBE, "cube", name="cube.c")
    (gradient,) = torch.autograd.grad(cube.apply(x := vector(1.0, 2.0)).sum(), x, create_graph=True)
    gradient.sum().backward()
    pack = tmp_path / "model.ffpack"
    ffgrad.export(pack, cube, "second")
    (tmp_path / "cube.c").unlink()
    return pack


@pytest.mark.parametrize("form", FORMS)
def test_a_pack_gives_gradients_where_there_is_no_compiler(
    form: str, compile_source: Compile, tmp_path: Path, run_python: RunPython
) -> None:
    """Neither tools nor cache nor sources are there; the same process could not open the source."""
    pair = compile_source(PAIR, "pair", PAIR_SIGNATURE, name="pair.c")
    ffgrad.export(tmp_path / form, {"both": pair}, ["first", "second"])
    child = run_python(
        f"""
import os, subprocess, ffgrad, torch
from ffgrad.torch import enzyme
pair = enzyme({form!r}, "both")
a = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
b = torch.tensor([0.5, 3.0], dtype=torch.float64, requires_grad=True)
product, mixed = pair.apply(a, b)
(by_a,) = torch.autograd.grad((product + mixed).sum(), a, create_graph=True)
(second,) = torch.autograd.grad(by_a.sum(), a)
print(torch.equal(by_a, b + 2 * a), second.tolist())
try:
    enzyme("pair.c", "pair", {PAIR_SIGNATURE!r})
    print("opened")
except ffgrad.Error as error:
    print(type(error).__name__)
print(os.path.exists({BARE["FFGRAD_CACHE_DIR"]!r}))
""",
        BARE,
    )
    proven, control, cache = child.stdout.splitlines()
    assert proven == "True [2.0, 2.0]"
    assert control in ("ToolchainError", "CacheError")
    assert cache == "False"


def test_every_file_is_compared_with_its_digest(packed_cube: Path, tmp_path: Path) -> None:
    """One byte changed anywhere is a refusal that names the file, before anything is loaded."""
    files = [path for path in packed_cube.rglob("*") if path.is_file() and path.name != "NOTICES.md"]
    assert {path.suffix for path in files} == {".json", ".so"}
    for number, path in enumerate(files):
        spoiled = tmp_path / f"spoiled{number}.ffpack"
        shutil.copytree(packed_cube, spoiled)
        place = spoiled / path.relative_to(packed_cube)
        content = bytearray(place.read_bytes())
        content[len(content) // 2] ^= 1
        place.write_bytes(content)
        with pytest.raises(ffgrad.PackError, match="is damaged") as caught:
            enzyme(spoiled, "cube")
        assert caught.value.code == "pack-damaged" and place.name in str(caught.value)
    with pytest.raises(ffgrad.PackError, match="is damaged"):
        (tmp_path / "empty.zip").write_bytes(b"")
        enzyme(tmp_path / "empty.zip", "cube")


def test_a_pack_says_what_it_lacks_and_the_command_adds_it(
    compile_source: Compile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hint is run as it stands."""
    monkeypatch.chdir(tmp_path)
    cube = compile_source(CUBE, "cube", name="cube.c", defines={"UNUSED": 1})
    ffgrad.export("model.ffpack", cube, "first")
    packed = enzyme("model.ffpack", "cube")
    x = vector(1.0, 2.0)
    (gradient,) = torch.autograd.grad(packed.apply(x).sum(), x, create_graph=True)
    assert gradient.tolist() == [3.0, 12.0]
    with pytest.raises(ffgrad.PackError, match="has no second derivatives of `cube` by x") as caught:
        gradient.sum().backward()
    assert caught.value.code == "pack-lacks"
    has, command = caught.value.hints
    assert has == "It has: first derivatives of `cube` by x."
    words = shlex.split(command.split(": ", 1)[1])
    subprocess.run([str(COMMAND), *words[1:]], check=True, capture_output=True)
    packed = enzyme("model.ffpack", "cube")
    (gradient,) = torch.autograd.grad(packed.apply(x).sum(), x, create_graph=True)
    gradient.sum().backward()
    assert x.grad is not None and x.grad.tolist() == [6.0, 12.0]


def test_fewer_inputs_are_served_by_what_was_packed_for_all(compile_source: Compile, tmp_path: Path) -> None:
    """Gradients and directional derivatives by each input alone, as from the source; batches too."""
    pair = compile_source(PAIR, "pair", PAIR_SIGNATURE, name="pair.c")
    ffgrad.export(tmp_path / "p.zip", pair, ["second"])
    packed = enzyme(tmp_path / "p.zip", "pair")
    a, b, t = vector(1.0, 2.0), vector(0.5, 3.0), vector(0.25, -1.0).detach()
    for inputs in [(a, b.detach()), (a.detach(), b)]:
        (wanted,) = [x for x in inputs if x.requires_grad]
        results = []
        for function in (pair, packed):
            product, mixed = function.apply(*inputs)
            (gradient,) = torch.autograd.grad((product * mixed).sum(), wanted, create_graph=True)
            (second,) = torch.autograd.grad((gradient * t).sum(), wanted)
            results.append((gradient.detach(), second))
        for left, right in zip(*results, strict=True):
            assert torch.allclose(left, right, rtol=1e-14)
    at = (a.detach(), b.detach())
    by_a = [torch.func.jvp(lambda a, f=f: f.apply(a, at[1])[1], (at[0],), (t,))[1] for f in (pair, packed)]
    assert torch.equal(*by_a)
    stacked = torch.stack([at[0], 2 * at[0]])
    jacobians = [
        torch.func.vmap(torch.func.jacrev(lambda a, f=f: f.apply(a, at[1])[1]))(stacked) for f in (pair, packed)
    ]
    assert torch.equal(*jacobians)


def test_what_was_proven_here_is_known_there_and_the_rest_is_checked_at_its_first_call(
    cache: Path, compile_source: Compile, tmp_path: Path
) -> None:
    """The numbers of the check are packed; without them all pipelines are."""
    cube = compile_source(CUBE, "cube", name="cube.c")
    unproven = ffgrad.export(tmp_path / "before.ffpack", cube)["functions"]["cube"]["derivatives"][0]
    assert unproven["check"] is None and len(unproven["pipelines"]) > 1
    cube.apply(vector(1.0, 2.0)).sum().backward()
    proven = ffgrad.export(tmp_path / "after.ffpack", cube)["functions"]["cube"]["derivatives"][0]
    assert proven["check"]["forward"] == pytest.approx(proven["check"]["reverse"]) and len(proven["pipelines"]) == 1
    packed = enzyme(tmp_path / "after.ffpack", "cube", verify="always")
    packed.apply(x := vector(3.0)).sum().backward()
    assert x.grad is not None and x.grad.item() == 27.0


def test_pipelines_are_tried_from_the_pack(cache: Path, tmp_path: Path) -> None:
    """A program whose first preparation gives a wrong gradient, packed before it was proven, is right at its first call."""
    (case,) = load_cases(names=["swapped_buffers"])
    function = numpy_enzyme(case.source, case.function, case.signature, **case.options)  # type: ignore[arg-type]
    index = ffgrad.export(tmp_path / "p.ffpack", function)
    assert index["functions"][case.function]["derivatives"][0]["check"] is None
    packed = numpy_enzyme(tmp_path / "p.ffpack", case.function)
    inputs = case.make_inputs()
    wanted = function.vjp(*inputs)[1](np.ones_like(function(*inputs)))
    found = packed.vjp(*inputs)[1](np.ones_like(function(*inputs)))
    for left, right in zip(wanted, found, strict=True):
        if left is not None:
            parallel = "-fopenmp" in case.options.get("flags", [])
            np.testing.assert_allclose(left, right, rtol=64 * np.finfo(left.dtype).eps if parallel else 1e-13)


@once
def conformance() -> list[str]:
    """Choose programs of every kind that the driver treats differently."""
    return [
        "blas_gemv",
        "matvec",
        "in_place_step",
        "openmp_matvec",
        "rule_lookup",
        "scratch",
        "special_gamma",
        "std_vector",
        "struct_pointer",
        "template_softplus",
        "two_files_cpp",
        "with_header",
    ]


@pytest.mark.parametrize("name", conformance())
def test_packed_programs_agree_with_their_reference(name: str, tmp_path: Path) -> None:
    """Values against NumPy, gradients against those from the source; threads may add up in another order."""
    cases = [case for case in load_cases() if case.name == name]
    if not cases:
        pytest.fail(f"no case `{name}`")
    (case,) = cases
    function = numpy_enzyme(case.source, case.function, case.signature, **case.options)  # type: ignore[arg-type]
    inputs = case.make_inputs()

    def as_tuple(outputs: object) -> tuple[np.ndarray, ...]:
        return outputs if isinstance(outputs, tuple) else (outputs,)  # type: ignore[return-value]

    def gradients(function: object) -> tuple[np.ndarray | None, ...]:
        outputs, pullback = function.vjp(*inputs)  # type: ignore[attr-defined]
        ones = tuple(np.ones_like(y) if y.dtype.kind == "f" else None for y in as_tuple(outputs))
        return as_tuple(pullback(ones))

    wanted = gradients(function)
    ffgrad.export(tmp_path / "p.zip", {"f": function})
    packed = numpy_enzyme(tmp_path / "p.zip", "f")
    for output, value in zip(as_tuple(packed(*inputs)), case.expected(inputs), strict=True):
        np.testing.assert_allclose(output, value, rtol=case.tolerance.primal, atol=case.tolerance.primal)
    for left, right in zip(wanted, gradients(packed), strict=True):
        assert (left is None) == (right is None)
        if left is not None:
            np.testing.assert_allclose(left, right, rtol=16 * np.finfo(left.dtype).eps)


def test_a_library_from_the_tool_folder_comes_with_the_pack(tmp_path: Path, run_python: RunPython) -> None:
    """OpenBLAS, with its licence; the pack has it where the tool folder is gone."""
    (case,) = load_cases(names=["blas_gemv"])
    function = numpy_enzyme(case.source, case.function, case.signature, **case.options)  # type: ignore[arg-type]
    index = ffgrad.export(tmp_path / "p.ffpack", function)
    (library,) = index["functions"][case.function]["libraries"]
    assert (tmp_path / "p.ffpack/lib" / library).is_file()
    notices = (tmp_path / "p.ffpack/NOTICES.md").read_text()
    (line,) = [line for line in notices.splitlines() if library in line]
    assert "BSD-3-Clause" in line and "in `lib/`" in line
    child = run_python(
        f"""
import numpy as np
from ffgrad.numpy import enzyme
f = enzyme("p.ffpack", {case.function!r})
A, x = np.eye(3), np.arange(3.0)
value, pullback = f.vjp(A, x)
print(pullback(1.0)[1].shape)
with open("/proc/self/maps") as maps:
    print(any("p.ffpack/lib/{library}" in line for line in maps))
""",
        BARE,
    )
    assert child.stdout.split("\n")[:2] == ["(3,)", "True"]


def test_a_kernel_is_packed_for_the_cpu_and_for_gpus(tmp_path: Path, run_python: RunPython) -> None:
    """Where there is no compiler the PTX is that from the source, and the CPU serves as a device."""
    f, case = opened("pointwise")
    expected, _ = ptx_of("pointwise", "vjp", "jvp")
    index = ffgrad.export(tmp_path / "k.ffpack", f, gpu=["sm_70", "sm_80"])
    kernels = index["functions"][case.function]["gpu"]["kernels"]
    assert {(k["arch"], k["batched"]) for k in kernels} == {(a, b) for a in ("sm_70", "sm_80") for b in (None, 1)}
    assert "libdevice" in (tmp_path / "k.ffpack/NOTICES.md").read_text()
    child = run_python(
        f"""
import hashlib, ffgrad, torch
from ffgrad.torch import enzyme
f = enzyme("k.ffpack", {case.function!r})
n = f._native
for arch in ("sm_80", "sm_90", "sm_75"):
    text = n.ptx(["vjp", "jvp"], n.differentiable, arch)[0]
    print(hashlib.sha256(text.encode()).hexdigest(), text.split(".target ")[1].split()[0])
try:
    n.ptx(["primal"], 0, "sm_60")
except ffgrad.PackError as error:
    print(error.code, "--gpu=sm_60" in error.hints[-1])
x = torch.rand(5, dtype=torch.float64, requires_grad=True)
a = torch.tensor(2.0, dtype=torch.float64)
torch.autograd.grad(f(x, x, a).sum(), x)
print("cpu")
""",
        BARE,
    )
    eighty, ninety, seventy, lacks, cpu = child.stdout.splitlines()
    assert eighty == ninety == f"{hashlib.sha256(expected.encode()).hexdigest()} sm_80"
    assert seventy.endswith(" sm_70") and lacks == "pack-lacks True" and cpu == "cpu"
    ptx = next((tmp_path / "k.ffpack").rglob("kernels.ptx"))
    ptx.write_text(ptx.read_text().replace("add", "sub", 1))
    with pytest.raises(ffgrad.PackError, match="kernels.ptx"):
        enzyme(tmp_path / "k.ffpack", case.function)


def test_what_is_no_kernel_and_what_a_callable_launches_is_refused(compile_source: Compile, tmp_path: Path) -> None:
    """Code for GPUs of a C function; a launch that another process cannot know."""
    with pytest.raises(ffgrad.PackError, match="is no CUDA kernel") as caught:
        ffgrad.export(tmp_path / "p.ffpack", compile_source(CUBE, "cube"), gpu="sm_80")
    assert caught.value.code == "pack-export"
    f, _ = opened("pointwise", grid=lambda sizes: 1)
    with pytest.raises(ffgrad.PackError, match="a callable is part of this process"):
        ffgrad.export(tmp_path / "p.ffpack", f)
    with pytest.raises(ffgrad.PackError, match="`ptx80` is no architecture"):
        ffgrad.export(tmp_path / "p.ffpack", opened("pointwise")[0], gpu="ptx80")


def test_options_that_change_code_are_those_of_the_pack(packed_cube: Path) -> None:
    """Others are refused by name; options of calls are taken."""
    with pytest.raises(ffgrad.PackError, match="`math`") as caught:
        enzyme(packed_cube, "cube", math="fast", verify="strict", threads=2)
    assert caught.value.code == "pack-options"
    with pytest.raises(ffgrad.PackError, match="the signature") as caught:
        enzyme(packed_cube, "cube", "x[m] -> y[m]")
    assert caught.value.found == "x[m] -> y[m]"
    same = enzyme(packed_cube, "cube", enzyme(packed_cube, "cube").signature, verify="strict", threads=2)
    assert same.apply(vector(2.0)).item() == 8.0


def test_a_name_that_is_not_there_is_answered_with_those_that_are(packed_cube: Path) -> None:
    """The closest ones, else all."""
    with pytest.raises(ffgrad.PackError, match="no function `cub` in the pack") as caught:
        enzyme(packed_cube, "cub")
    assert caught.value.code == "pack-function" and "`cube`" in caught.value.hints[0]


def test_nothing_is_built_from_a_pack(packed_cube: Path) -> None:
    """What only a compiler can give, or would choose by times, is refused."""
    with pytest.raises(ffgrad.PackError, match="`tune`"):
        enzyme(packed_cube, "cube", tune=True)
    with pytest.raises(ffgrad.PackError, match="nothing can be built from"):
        ffgrad.export(packed_cube.with_name("again.ffpack"), enzyme(packed_cube, "cube"))


def test_what_cannot_be_packed_is_refused_and_what_is_no_pack_is_left_alone(
    compile_source: Compile, tmp_path: Path
) -> None:
    """By the option's name; a file of the user's is never overwritten."""
    tuned = compile_source(CUBE, "cube", tune=True)
    with pytest.raises(ffgrad.PackError, match="option `tune`: nothing was chosen yet") as caught:
        ffgrad.export(tmp_path / "t.ffpack", tuned)
    assert caught.value.code == "pack-export"
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/precious").write_text("x")
    with pytest.raises(ffgrad.PackError, match="is no pack"):
        ffgrad.export(tmp_path / "mine", compile_source(CUBE, "cube"))
    assert (tmp_path / "mine/precious").read_text() == "x"
    with pytest.raises(ValueError, match="give names"):
        ffgrad.export(tmp_path / "t.ffpack", [tuned, tuned])
    with pytest.raises(TypeError, match="not int"):
        ffgrad.export(tmp_path / "t.ffpack", {"f": 3})


def test_an_operation_of_a_pack_is_pickled_and_compiled(packed_cube: Path) -> None:
    """By the pack's place, with a warning where the pack is another one by then."""
    cube = enzyme(packed_cube, "cube")
    again = pickle.loads(pickle.dumps(cube))
    assert again.apply(vector(2.0)).item() == 8.0
    whole = torch.compile(lambda x: (cube.apply(x) * 2).sum(), fullgraph=True, backend="aot_eager")
    whole(x := vector(1.0, 2.0)).backward()
    assert x.grad is not None and x.grad.tolist() == [6.0, 24.0]


def test_code_for_a_level_of_cpus_has_a_key_of_its_own_and_is_right(write: Write) -> None:
    """An unknown CPU is refused with those that are known."""
    source = write(CUBE)
    keys = set()
    for cpu in ("native", "x86-64", "x86-64-v2", "x86-64-v3"):
        cube = enzyme(source, "cube", cpu=cpu)
        cube.apply(x := vector(2.0)).sum().backward()
        assert x.grad is not None and x.grad.item() == 12.0
        keys.add(cube.manifest["key"])
    assert len(keys) == 4
    with pytest.raises(ffgrad.CompileError, match="`pentium`") as caught:
        enzyme(source, "cube", cpu="pentium")
    assert caught.value.code == "unknown-cpu" and "`x86-64-v3`" in caught.value.hints[0]


def test_the_command_packs_proves_and_lists(tmp_path: Path, write: Write) -> None:
    """`ffgrad export --check` and `ffgrad contents`, as JSON."""
    source, pack = write(CUBE), tmp_path / "p.tar"

    def ffgrad_says(*words: str) -> dict[str, object]:
        done = subprocess.run([str(COMMAND), *words, "--json"], check=True, capture_output=True, text=True)
        answer: dict[str, object] = json.loads(done.stdout)
        return answer

    made = ffgrad_says("export", str(pack), str(source), "cube", "--as", "third", "--check", "--derivatives", "second")
    assert made["index"] == ffgrad_says("contents", str(pack))
    (derivatives,) = made["index"]["functions"]["third"]["derivatives"]  # type: ignore[index]
    assert derivatives["check"] is not None and derivatives["wanted"] == {"mask": 1, "order": "second"}


def test_the_c_abi_opens_packs(packed_cube: Path, tmp_path: Path, run_python: RunPython) -> None:
    """A handle, or a status of its own; in a process without tools, as Julia would be."""
    library = COMMAND.with_name("libffgrad.so")
    child = run_python(
        f"""
import ctypes, json
ffgrad = ctypes.CDLL({str(library)!r})
for name in ("cube", "cubes"):
    spec = json.dumps({{"sources": [{str(packed_cube)!r}], "function": name}}).encode()
    handle, error = ctypes.c_uint64(), ctypes.c_void_p()
    print(ffgrad.ffgrad_open(spec, ctypes.byref(handle), ctypes.byref(error)), handle.value != 0)
""",
        BARE,
    )
    assert child.stdout.splitlines() == ["0 True", "12 False"]


SQUARE = """
void tick(void);
void square(const double* a, int n, double* b) {
  tick();
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {
    double s = 0; for (int k = 0; k < n; k++) s += a[i * n + k] * a[k * n + j];
    b[i * n + j] = s; } }
"""
TICK = "static long ticks; void tick(void) { ticks++; } long ticked(void) { return ticks; }\n"


def square_gradient(function: Any, n: int) -> None:
    """Compare the gradient of a matrix's square with PyTorch's."""
    a = torch.linspace(-1, 1, n * n, dtype=torch.float64).reshape(n, n).requires_grad_()
    w = torch.linspace(0.3, 0.9, n * n, dtype=torch.float64).reshape(n, n)
    got, expected = (torch.autograd.grad((w * y).sum(), a)[0] for y in (function.apply(a), a @ a))
    torch.testing.assert_close(got, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("option", ["tune", "specialize"])
def test_what_was_chosen_by_times_is_packed_and_serves_its_sizes(option: str, cache: Path, tmp_path: Path) -> None:
    """Other sizes have the function as it is. What was chosen is proven, the rest is checked: calls of the function are counted."""
    (tmp_path / "square.c").write_text(SQUARE)
    (tmp_path / "tick.c").write_text(TICK)
    library = tmp_path / "libtick.so"
    subprocess.run(["cc", "-shared", "-fPIC", "tick.c", "-o", str(library)], cwd=tmp_path, check=True)
    options: dict[str, Any] = {option: True, "libraries": [str(library)], "inactive": ["tick"]}
    f = enzyme(tmp_path / "square.c", "square", "a[n,n] -> b[n,n]", **options)
    square_gradient(f, 4)
    packed_index = ffgrad.export(tmp_path / "p.ffpack", f)["functions"]["square"]
    variants = packed_index["variants"] if "variants" in packed_index else []
    assert [v["sizes"] for v in variants] in ([{"n": 4}, {}], [{}]) if option == "tune" else ([{"n": 4}], [])
    assert all(v["function"]["derivatives"][0]["check"] for v in variants)
    packed = enzyme(tmp_path / "p.ffpack", "square")
    # Without a name of its own it is loaded by its path, here too.
    ticked = ctypes.CDLL(str(library)).ticked
    counts = [ticked()]
    for n in (4, 4, 3, 4, 9):
        square_gradient(packed, n)
        counts.append(ticked())
    calls = np.diff(counts)
    assert calls[0] == calls[1] == calls[3], "what was chosen, or proven by itself, is not checked again"


def test_the_openmp_runtime_is_named_and_its_absence_is_a_typed_error(tmp_path: Path, run_python: RunPython) -> None:
    """Among what a pack needs, and with what to install; code without parallel regions needs none."""
    index: dict[str, Any] = {}
    for name in ("openmp_matvec", "matvec"):
        (case,) = load_cases(names=[name])
        function = numpy_enzyme(case.source, case.function, case.signature, **case.options)  # type: ignore[arg-type]
        index = ffgrad.export(tmp_path / "p.ffpack", {name: function}, add=name == "matvec")
    needs = {name: packed["needs"] for name, packed in index["functions"].items()}
    assert "libomp (or libiomp5)" in needs["openmp_matvec"] and "libomp (or libiomp5)" not in needs["matvec"]
    contents = subprocess.run([COMMAND, "contents", tmp_path / "p.ffpack"], capture_output=True, text=True, check=True)
    assert contents.stdout.count("libomp (or libiomp5)") == 1
    assert "OpenMP runtime" in (tmp_path / "p.ffpack/NOTICES.md").read_text()
    code = """
from ffgrad.numpy import enzyme
import ffgrad
enzyme("p.ffpack", "matvec")
try:
    enzyme("p.ffpack", "openmp_matvec")
    print("opened")
except ffgrad.PackError as error:
    print(error.code, str(error).replace(chr(10), " "))
"""
    spoiled = run_python(code, {**BARE, "FFGRAD_OPENMP": "/nonexistent/libomp.so"}).stdout
    assert spoiled.startswith("pack-library `openmp_matvec` of the pack ") and "set FFGRAD_OPENMP" in spoiled
    missing = run_python(code, BARE).stdout
    if missing.strip() == "opened":
        pytest.skip("this system has an OpenMP runtime where it is always looked for")
    assert missing.startswith("pack-library ") and "Debian: libomp5" in missing
