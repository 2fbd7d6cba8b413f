"""Code for GPUs, built and assembled where there is none: PTX of every kernel, its derivatives, and over a batch."""

from __future__ import annotations

import collections
import os
import re
from pathlib import Path

import pytest
from ffgrad.errors import DeviceError, DifferentiationError
from ffgrad.torch import enzyme
from support.cuda_cases import CASES, GOLDENS, TEMPLATES, ptx_of
from support.loader import Case


def test_an_instance_of_a_template_reaches_the_gpus_assembler(tmp_path: Path) -> None:
    """Two instances of one source are two kernels."""
    ptx_of("gather", "primal")
    source = tmp_path / "powers.cu"
    source.write_text(TEMPLATES)
    for name, kind, other in (("double", ".f64", ".f32"), ("float", ".f32", ".f64")):
        text, _, _ = enzyme(source, f"shapes::powers<{name}, 3>", "x[n] -> y[n]")._native.ptx(["vjp"], 1, "sm_80")
        assert f"atom.global.add{kind}" in text and other not in text


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_kernel_and_its_derivatives_assemble_for_sm_90(case: Case) -> None:
    """ptxas, which runs in the build, accepts the code and reports what it needs."""
    text, needs = ptx_of(case.name.removeprefix("cuda_"), "primal", "vjp", "jvp")
    assert {f".entry ffgrad_{e}(" in text for e in ("primal", "vjp", "jvp")} == {True}
    assert any("registers" in line for line in needs)
    assert ".target sm_80\n" in text, "not compiled for a debugger"


def additions(ptx: str) -> str:
    """Return the instructions with which PTX adds to memory that other threads add to, counted."""
    found = collections.Counter(re.findall(r"\b((?:atom|red)\.\S+)\s", ptx))
    return "".join(f"{count:3} {name}\n" for name, count in sorted(found.items())) or "  none\n"


@pytest.mark.parametrize("name", ["gather", "block_reduce", "fem_apply"])
def test_shadows_are_added_up_by_atomics_where_threads_share_them(name: str) -> None:
    """gather: global memory that several threads read; block_reduce: shared memory; fem_apply: a thread's own array."""
    text, _ = ptx_of(name, "vjp")
    golden = GOLDENS / f"{name}.txt"
    if os.environ.get("FFGRAD_UPDATE_GOLDENS"):
        golden.write_text(additions(text))
    assert additions(text) == golden.read_text()


def test_a_gradient_that_needs_more_shared_memory_than_there_is_is_refused(tmp_path: Path) -> None:
    """With what to do about it."""
    source = tmp_path / "large.cu"
    source.write_text(
        """__global__ void large(const double *x, double *y) {
             __shared__ double s[4096];
             s[threadIdx.x] = x[threadIdx.x];
             __syncthreads();
             y[threadIdx.x] = s[(threadIdx.x + 1) % 32] * s[threadIdx.x];
           }"""
    )
    f = enzyme(source, "large", "x[n] -> y[n]", grid=1, block=32)
    ptx_of("gather", "vjp")
    with pytest.raises(DeviceError, match="twice as much"):
        f._native.ptx(["vjp"], 1, "sm_80")


PLAIN = [case for case in CASES if not {"shared", "shuffle"} & set(case.tags)]


@pytest.mark.parametrize("entry", ["hvp", "jvp2"])
@pytest.mark.parametrize("case", PLAIN, ids=str)
def test_second_derivatives_assemble_for_sm_90(case: Case, entry: str) -> None:
    """Forward over reverse and forward over forward, where there is no shared memory."""
    text, _ = ptx_of(case.name.removeprefix("cuda_"), entry)
    assert f".entry ffgrad_{entry}(" in text


def test_second_derivatives_of_shared_memory_are_refused_with_the_kernels_line() -> None:
    """As on the CPU."""
    ptx_of("block_reduce", "vjp")
    with pytest.raises(DifferentiationError, match="second derivatives of a kernel with shared memory") as error:
        ptx_of("block_reduce", "hvp")
    assert error.value.code == "shared-memory-twice" and error.value.line == 5


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_kernel_over_a_batch_assembles_for_sm_90(case: Case) -> None:
    """With a distance for each parameter."""
    name = case.name.removeprefix("cuda_")
    alone, _ = ptx_of(name, "vjp")
    text, _ = ptx_of(name, "vjp", batched=1)
    parameters = [re.findall(r"ffgrad_vjp_param_\d+,?$", ptx, re.MULTILINE) for ptx in (alone, text)]
    assert len(parameters[1]) == 2 * len(parameters[0]) - 1 > 3, "the pool has no distance"


@pytest.mark.parametrize(
    "body",
    [
        "s[t] = x[t]; __syncthreads(); double v = s[t] * s[t ? t - 1 : 31]; __syncthreads(); s[t] = v; __syncthreads();"
        " y[t] = s[t];",
        "double *from = s, *to = r; from[t] = x[t]; __syncthreads(); for (int d = 1; d < 32; d *= 2) {"
        " to[t] = t >= d ? from[t] * from[t - d] : from[t]; __syncthreads(); double *o = from; from = to; to = o; }"
        " y[t] = from[t];",
    ],
)
def test_what_another_thread_overwrites_after_a_barrier_is_not_read_again_in_the_reverse_pass(
    tmp_path: Path, body: str
) -> None:
    """Alias analysis knows of one thread only: its own element is no other's."""
    ptx_of("block_reduce", "vjp")
    source = tmp_path / "shared.cu"
    source.write_text(
        "__global__ void shared(const double *x, double *y) {\n  __shared__ double s[32], r[32];\n"
        f"  int t = threadIdx.x; {body}\n}}"
    )
    f = enzyme(source, "shared", "x[n] -> y[n]", grid=1, block=32)
    _, _, folder = f._native.ptx(["vjp"], 1, "sm_80")
    text = (Path(folder) / "after.ll").read_text()
    vjp = text[text.index("@ffgrad_vjp(") :].split("\n}\n")[0]
    again = [line for line in vjp.splitlines() if re.search(r"_unwrap[\d.i]* = load double", line)]
    assert "atomicrmw" in vjp and not again, again
    assert "ffgrad_other_threads" in text and "other_threads" not in (Path(folder) / "kernels.ptx").read_text()


def test_a_batch_leaves_a_kernel_its_own_blocks_along_z(tmp_path: Path) -> None:
    """The index of the block is taken apart into the element and the user's own."""
    ptx_of("gather", "primal")
    source = tmp_path / "layers.cu"
    source.write_text(
        "__global__ void layers(const double *x, double *y, int n) {\n"
        "  int i = blockIdx.z * blockDim.x + threadIdx.x;\n"
        "  if (i < n) y[i] = x[i] * x[i] * gridDim.z;\n}\n"
    )
    f = enzyme(source, "layers", "x[n] -> y[n]", grid=[1, 1, 5], block=32)
    text, _, folder = f._native.ptx(["primal"], 1, "sm_80", 5)
    assert "%ctaid.z" in text and "%nctaid.z" not in text
    assert "urem i32" in (Path(folder) / "before.ll").read_text()


@pytest.mark.parametrize(
    "body",
    [
        "y[i] = x[i]; y[i] *= y[i]; y[i] *= x[i];",
        "y[i] = 1; double e = 1; while (fabs(e) > 1e-12) { e = y[i] * y[i] - x[i]; y[i] -= e / (2 * y[i]); }",
        "y[i] = 1; for (int k = 0; k < n; k++) y[i] *= x[k];",
        "for (int k = 0; k < n - 7; k++) { y[i] = x[i]; y[i] = sin(y[i]); }",
    ],
)
def test_an_output_that_is_its_own_work_variable_is_kept_or_not_read(tmp_path: Path, body: str) -> None:
    """Where Enzyme drops the stores of an output, no derivative may load from it."""
    source = tmp_path / "work.cu"
    source.write_text(
        f"__global__ void work(const double *x, double *y, int n) {{ int i = threadIdx.x; if (i < n) {{ {body} }} }}"
    )
    f = enzyme(source, "work", "x[n] -> y[n]", grid=1, block=32)
    text, _, folder = f._native.ptx(["vjp"], 1, "sm_80")
    is_dropped = re.search(r"load i32, ptr @enzyme_dupnoneed", (Path(folder) / "before.ll").read_text())
    assert not (is_dropped and "[ffgrad_vjp_param_2]" in text)
