"""The proxy kernels of ``benches/proxies`` have right gradients, serial, with OpenMP and as CUDA kernels on the CPU; and their runner runs.

Neighbours: ``test_bench_workloads.py``.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

PROXIES = Path(__file__).resolve().parents[2] / "benches" / "proxies"
sys.path[:0] = [str(PROXIES), str(PROXIES.parent)]

import competitors  # noqa: E402
import raw_engine  # noqa: E402
from checks import faults  # noqa: E402
from kernels import Kernel, all_kernels  # noqa: E402

KERNELS = all_kernels(small=True)
SERIAL = [k for k in KERNELS if not k.is_cuda]


@pytest.fixture(autouse=True)
def _work_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FFGRAD_BENCH_DIR", str(tmp_path_factory.getbasetemp() / "bench"))
    try:
        raw_engine.clang()
    except raw_engine.MissingTool as error:
        pytest.skip(str(error))


def by_name(kernel: Kernel) -> str:
    return kernel.name


@pytest.mark.parametrize("kernel", KERNELS, ids=by_name)
def test_gradient_agrees_with_forward_mode_and_differences(kernel: Kernel) -> None:
    gradients = competitors.ffgrad(kernel).result()
    assert all(np.any(g != 0) for g in gradients)
    found = faults(kernel, gradients)
    assert found["identity"] <= 1e-12
    assert found["differences"] <= 1e-7


@pytest.mark.parametrize("kernel", SERIAL, ids=by_name)
def test_value_is_that_of_plain_c(kernel: Kernel) -> None:
    values = competitors.opened(kernel)(*kernel.inputs.values())
    values = values if isinstance(values, tuple) else (values,)
    bound = competitors.bound_plain(kernel)
    bound.call(kernel.function, gradient=False)()
    for ours, theirs in zip(values, bound.values.values(), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("kernel", [k for k in SERIAL if k.parallel], ids=by_name)
def test_gradient_with_openmp_is_the_serial_one(kernel: Kernel, threads: int) -> None:
    serial = competitors.ffgrad(kernel).result()
    parallel = competitors.ffgrad(kernel, flags=["-fopenmp"], threads=threads).result()
    for ours, expected in zip(parallel, serial, strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-10, atol=1e-12 * np.abs(expected).max())


def test_angles_are_not_evaluated_in_the_loops_over_atoms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Enzyme alone calls sine and cosine again in every branch of the innermost loop; ``keep-results`` keeps what they returned."""
    (kernel,) = [k for k in KERNELS if k.name == "docking (CUDA)"]

    def calls(*without: str) -> int:
        monkeypatch.setenv("FFGRAD_CACHE_DIR", str(tmp_path / "-".join(without)))
        competitors.ffgrad(kernel, without=list(without)).result()
        (path,) = tmp_path.joinpath("-".join(without)).glob("v*/entries/*/*/after.ll")
        text = path.read_text()
        reverse = text[text.index("invert") : text.index("\n}\n", text.index("invert"))]
        return len(re.findall(r"call .*@(?:llvm\.)?(?:sin|cos)\b", reverse))

    assert calls() <= 12 < 30 < calls("keep-results")


def test_every_kind_of_proxy_is_there() -> None:
    assert {k.path.name for k in KERNELS} == {p.name for p in PROXIES.iterdir() if p.suffix in (".c", ".cu")}
    assert sum(k.parallel for k in KERNELS) >= 3
    assert sum(k.is_cuda for k in KERNELS) >= 2


def test_the_runner_prints_a_table() -> None:
    command = [sys.executable, str(PROXIES / "run.py"), "--small", "--quick", "--only", "pathfinder"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    (row,) = [line for line in done.stdout.splitlines() if line.startswith("| pathfinder")]
    cells = [cell.strip() for cell in row.split("|")]
    assert len(cells) == 12 and "-" not in cells
