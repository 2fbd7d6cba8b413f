"""OpenMP, MPI and torch's DistributedDataParallel: beyond single programs of the conformance table."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch
from ffgrad import CompileError, DifferentiationError, GradientWarning, ToolchainError
from ffgrad.torch import enzyme
from mpi.launch import mpi, mpiexec
from support.fixtures import RunPython, Write, resident

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "tests" / "cases"
FLAGS = ["-fopenmp"]


def test_repeated_gradients_agree_to_rounding() -> None:
    """Threads run in another order every time; many runs differ in the last digits at most."""
    energy = enzyme(
        CASES / "openmp/openmp_critical.c", "energy", "x[n], owner[n] -> return, load[m]", flags=FLAGS, sizes={"m": 4}
    )
    x = torch.randn(5000, dtype=torch.float64, requires_grad=True)
    owner = torch.randint(0, 4, (5000,), dtype=torch.int32)

    def gradient() -> torch.Tensor:
        total, load = energy.apply(x, owner)
        return torch.autograd.grad(total * 2 + (load * load).sum(), x)[0]

    first = gradient()
    for _ in range(50):
        torch.testing.assert_close(gradient(), first, rtol=1e-11, atol=1e-11)


def test_no_part_of_a_table_that_threads_copy_is_lost(write: Write) -> None:
    """``firstprivate`` is a memcpy out of shared memory; its reverse adds to shared memory, from every thread."""
    source = write(
        """
        void f(const double *t, const float *w, int n, double *y) {
          double table[4] = {t[0], t[1], t[2], t[3]};
          float weights[4] = {w[0], w[1], w[2], w[3]};
        #pragma omp parallel for firstprivate(table, weights) schedule(static, 1)
          for (int i = 0; i < n; i++) {
            double *own = table;
            float *factor = weights;
            y[i] = own[i % 4] * factor[(i + 1) % 4];
          }
        }
        """
    )
    f = enzyme(source, "f", "t[m], w[m] -> y[n]", flags=FLAGS, sizes={"n": 8}, threads=8)
    t = torch.arange(1.0, 5.0, dtype=torch.float64, requires_grad=True)
    w = torch.arange(2.0, 6.0, requires_grad=True)
    for _ in range(2000):
        of_t, of_w = torch.autograd.grad(f.apply(t, w).sum(), (t, w))
        assert of_t.tolist() == [6.0, 8.0, 10.0, 4.0] and of_w.tolist() == [8.0, 2.0, 4.0, 6.0]


ARRAYS = """
#include <math.h>
#include <stdlib.h>
/* Every iteration needs memory of its own, and the reverse sweep needs what was in it. */
void rows(const double *x, int n, int steps, double *y) {
  #pragma omp parallel for schedule(static, 3)
  for (int i = 0; i < n; i++) {
    double *own = malloc((i % 7 + 1) * 64 * sizeof(double));
    for (int k = 0; k < (i % 7 + 1) * 64; k++) own[k] = sin(x[i] * (k + 1));
    double s = 0;
    for (int t = 0; t < steps; t++)
      for (int k = 0; k < (i % 7 + 1) * 64; k++) { own[k] *= own[k]; s += own[k]; }
    y[i] = s;
    free(own);
  }
}
"""


@pytest.mark.parametrize("mode", ["recompute", "tape"])
def test_threads_allocate_from_arenas_of_the_call(
    mode: str, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Teams of changing size, called from changing threads: the same gradients as with malloc, and no memory piles up."""
    monkeypatch.setenv("FFGRAD_CACHE_DIR", str(tmp_path / "cache"))
    source, signature = write(ARRAYS), "x[n], steps -> y[n]"
    x = torch.linspace(0.1, 1, 200, dtype=torch.float64, requires_grad=True)

    def gradient(threads: int, **options: Any) -> torch.Tensor:
        f = enzyme(source, "rows", signature, flags=FLAGS, threads=threads, **{"mode": mode, **options})
        return torch.autograd.grad(f.apply(x, 3).sum(), x)[0]

    want = gradient(1, arena=False, mode="recompute")
    for threads in (2, 8, 3, 5) * 2:
        torch.testing.assert_close(gradient(threads), want, rtol=1e-12, atol=1e-12)
    with ThreadPoolExecutor(4) as pool:
        for got in pool.map(gradient, [4, 2, 3, 4] * 5):
            torch.testing.assert_close(got, want, rtol=1e-12, atol=1e-12)
    before = resident()
    for _ in range(100):
        gradient(4)
    assert resident() - before < 64 << 20, "100 calls that need 2 MB each"
    built = [path.read_text() for path in (tmp_path / "cache").rglob("final.ll")]
    assert sum("@forking" in ir for ir in built) == len(built) - 1, "all but the one without arena"


def test_reductions_are_the_same_bit_for_bit() -> None:
    """The product of a reduction is reversed in the order in which it was made, which is that of the threads."""
    source, signature = CASES / "openmp/openmp_reductions.c", "x[n] -> sum, product, largest, smallest"
    statistics = enzyme(source, "statistics", signature, flags=FLAGS)
    x = torch.randn(301, dtype=torch.float64, requires_grad=True)

    def gradient() -> torch.Tensor:
        return torch.autograd.grad(statistics.apply(x)[1], x)[0]

    first = gradient()
    assert all(torch.equal(gradient(), first) for _ in range(50))


@pytest.mark.parametrize("count", [1, 2, 3, 8])
def test_any_number_of_threads_gives_the_gradient_of_one(count: int, run_python: RunPython) -> None:
    """Also more threads than a loop has iterations."""
    child = run_python(
        inspect.cleandoc(f"""
        import torch
        from ffgrad.torch import enzyme
        serial, parallel = (
            enzyme({str(CASES / "openmp/openmp_phases.c")!r}, "march", "u[n], dt -> u[n]", sizes={{"steps": 4}}, flags=flags)
            for flags in ([], ["-fopenmp"])
        )
        u = torch.linspace(0.1, 1, 6, dtype=torch.float64, requires_grad=True)
        dt = torch.tensor(0.1, dtype=torch.float64, requires_grad=True)
        for f in (serial, parallel):
            print([round(v, 10) for g in torch.autograd.grad(f.apply(u, dt).sum(), (u, dt)) for v in g.reshape(-1).tolist()])
        """),
        env={"OMP_NUM_THREADS": str(count)},
    )
    first, second = child.stdout.split("\n")[:2]
    assert first == second


def test_a_region_that_one_thread_reverses_is_reported() -> None:
    """Keeping the largest value under a critical section needs the order of the threads."""
    best = enzyme(CASES / "openmp/openmp_best.c", "best_product", "x[n], w[n] -> return", flags=[*FLAGS, "-DTOLD"])
    x, w = (torch.randn(9, dtype=torch.float64, requires_grad=True) for _ in range(2))
    with pytest.warns(GradientWarning, match=r"openmp_best\.c:\d+ is reversed by one thread: the critical section"):
        best.apply(x, w)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        best.apply(x, w)


def test_a_construct_without_derivative_is_refused_with_its_line(write: Write) -> None:
    """`cancel` leaves a loop at another iteration in each run."""
    source = write(
        """
        void f(const double *x, int n, double *y) {
        #pragma omp parallel for
          for (int i = 0; i < n; i++) {
            y[i] = x[i] * x[i];
        #pragma omp cancel for if (x[i] < 0)
          }
        }
        """
    )
    with pytest.raises(DifferentiationError) as caught:
        enzyme(source, "f", "x[n] -> y[n]", flags=FLAGS)
    assert caught.value.code == "openmp-construct"
    assert "`cancel`" in str(caught.value) and caught.value.line is not None


def test_a_second_openmp_runtime_is_refused(run_python: RunPython) -> None:
    """Two of LLVM's would abort the process."""
    child = run_python(
        inspect.cleandoc(f"""
        import os, shutil, tempfile, torch
        from ffgrad import ToolchainError
        from ffgrad.torch import enzyme
        x = torch.ones(8, dtype=torch.float64)
        case = {str(CASES / "openmp/openmp_threads.c")!r}
        print(float(enzyme(case, "by_hand", flags=["-fopenmp"]).apply(x)) > 0)
        loaded = next(l.split()[-1] for l in open("/proc/self/maps") if "libomp." in l or "libiomp5" in l)
        print(loaded)
        """),
        env={},
    )
    assert child.stdout.startswith("True")
    runtime = Path(child.stdout.split("\n")[1])
    child = run_python(
        inspect.cleandoc(f"""
        import ctypes, shutil, tempfile, torch
        from ffgrad import ToolchainError
        from ffgrad.torch import enzyme
        copy = shutil.copy({str(runtime)!r}, tempfile.mkdtemp())
        ctypes.CDLL({str(runtime)!r})
        import os
        os.environ["FFGRAD_OPENMP"] = copy
        try:
            enzyme({str(CASES / "openmp/openmp_threads.c")!r}, "by_hand", flags=["-fopenmp"]).apply(torch.ones(8, dtype=torch.float64))
        except ToolchainError as error:
            print(error)
        """),
        env={},
    )
    assert "has loaded" in child.stdout and "two runtimes would abort it" in child.stdout


def test_a_runtime_that_is_loaded_already_is_used(run_python: RunPython) -> None:
    """No second runtime is loaded, under any name of the first."""
    child = run_python(
        inspect.cleandoc(f"""
        import ctypes, torch
        from ffgrad.torch import enzyme
        x = torch.ones(8, dtype=torch.float64)
        enzyme({str(CASES / "openmp/openmp_threads.c")!r}, "by_hand", flags=["-fopenmp"]).apply(x)
        names = {{l.split()[-1] for l in open("/proc/self/maps") if "libomp." in l or "libiomp5" in l}}
        print(len(names))
        """),
        env={},
    )
    assert child.stdout.strip() == "1"


def test_the_option_threads_says_how_many(write: Write) -> None:
    """For this function alone; another one keeps the runtime's own number."""
    source = write(
        """
        #include <omp.h>
        void team(const double *x, int n, double *y) {
        #pragma omp parallel
          {
        #pragma omp single
            y[0] = x[0] * omp_get_num_threads();
          }
        }
        """
    )
    x = torch.ones(1, dtype=torch.float64)
    counts = [float(enzyme(source, "team", "x[n] -> y[n]", flags=FLAGS, threads=t).apply(x)) for t in (3, 2, 3)]
    assert counts == [3, 2, 3]


@pytest.mark.parametrize("asks", ["num_threads(3)", ""])
def test_one_thread_may_be_forced(asks: str, write: Write) -> None:
    """The option overrides the source, in the function and in its gradient."""
    source = write(
        f"""
        #include <omp.h>
        void team(const double *x, int n, double *y) {{
          double sum = 0;
          int threads = 0;
          if ({int(not asks)}) omp_set_num_threads(3);
        #pragma omp parallel for reduction(+ : sum, threads) schedule(static, 1) {asks}
          for (int i = 0; i < n; i++) {{
            sum += x[i] * x[i];
            threads += i < 3 ? omp_get_thread_num() : 0;
          }}
          y[0] = sum;
          y[1] = threads;
        }}
        """
    )
    x = torch.ones(5, dtype=torch.float64, requires_grad=True)
    for options, numbers in (({}, 3), ({"threads": 1}, 0), ({}, 3)):
        y = enzyme(source, "team", "x[n] -> y[2]", flags=FLAGS, **options).apply(x)  # type: ignore[arg-type]
        assert y.tolist() == [5, numbers]
        assert torch.autograd.grad(y[0], x)[0].tolist() == [2] * 5


@pytest.mark.parametrize("ranks", [2, 4])
def test_mpi_programs_have_gradients(ranks: int) -> None:
    """Messages, nonblocking ones and collective operations, against finite differences over all ranks."""
    names = ["ring", "norm", "model", "heat", "spread"]
    output = mpiexec(ranks, ROOT / "tests" / "mpi" / "ranks.py", *names)
    assert all(f"{name}: {ranks} ranks" in output for name in names)


@pytest.mark.parametrize("ranks", [2, 4])
def test_a_rod_in_pieces_has_the_gradient_of_the_whole(ranks: int) -> None:
    """The example of the README."""
    assert f"{ranks} ranks" in mpiexec(ranks, ROOT / "examples" / "mpi" / "heat.py")


def test_a_source_with_mpi_must_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """A check that one rank makes alone would wait for the others."""
    include = subprocess.run(["mpicc", "-show"], env=mpi(), capture_output=True, text=True, check=True).stdout.split()
    folders = [word[2:] for word in include if word.startswith("-I")]
    with pytest.raises(CompileError, match="mpi=True"):
        enzyme(ROOT / "tests" / "mpi" / "programs.c", "norm", include_dirs=folders)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ToolchainError, match="mpicc"):
        enzyme(ROOT / "tests" / "mpi" / "programs.c", "norm", mpi=True)


def test_distributed_data_parallel_gives_the_gradient_of_one_process() -> None:
    """Two processes over gloo, a C function in the model."""
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-port", "0"]
    command = [*command, "--standalone", str(ROOT / "examples" / "ddp" / "fit.py")]
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    child = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert child.returncode == 0, child.stdout + child.stderr
    assert "2 processes" in child.stdout
