"""OpenMP and MPI in Fortran, beyond what the conformance table runs: names without ``omp_lib``, ranks, refusals."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from ffgrad import CompileError, DifferentiationError, GradientWarning
from ffgrad.torch import Enzyme, enzyme
from mpi.launch import ROOT, mpi, mpiexec
from torch.autograd import gradcheck

Compile = Callable[..., Enzyme]
CASES = Path(__file__).resolve().parents[1] / "cases" / "fortran"
FLAGS = ["-fopenmp"]

EXTERNAL = """\
subroutine f(x, n, y)
  implicit none
  integer, intent(in) :: n
  real(8), intent(in) :: x(n)
  real(8), intent(out) :: y(n)
  integer, external :: omp_get_thread_num, omp_get_num_threads
  real(8), external :: omp_get_wtime
  integer :: i
  real(8) :: start
  start = omp_get_wtime()
  call omp_set_num_threads(2)
  !$omp parallel private(i)
  do i = omp_get_thread_num() + 1, n, omp_get_num_threads()
    y(i) = x(i)**2
  end do
  !$omp end parallel
  !$ y(1) = y(1) + 1
  if (omp_get_wtime() < start) y(1) = 0
end subroutine
"""

TARGET = """\
subroutine f(x, n, s)
  implicit none
  integer, intent(in) :: n
  real(8), intent(in) :: x(n)
  real(8), intent(out) :: s
  integer :: i
  s = 0
  !$omp target teams distribute parallel do reduction(+:s)
  do i = 1, n
    s = s + x(i)**2
  end do
end subroutine
subroutine other(x, n, y)
  implicit none
  integer, intent(in) :: n
  real(8), intent(in) :: x(n)
  real(8), intent(out) :: y(n)
  integer :: i
  !$omp parallel do
  do i = 1, n
    y(i) = x(i)**2
  end do
end subroutine
"""


def test_the_runtimes_functions_may_be_called_without_a_module(compile_source: Compile) -> None:
    """As code does that is older than ``omp_lib``; ``!$`` lines are code with -fopenmp."""
    f = compile_source(EXTERNAL, "f", name="f.f90", flags=FLAGS)
    x = torch.rand(7, dtype=torch.float64, requires_grad=True)
    assert f(x).tolist()[0] == x.tolist()[0] ** 2 + 1
    assert gradcheck(f, (x,), check_forward_ad=True)


@pytest.mark.parametrize(
    ("file", "function"),
    [("openmp_map.f90", "wave"), ("openmp_critical.f90", "moments"), ("openmp_reductions.f90", "summary")],
)
def test_common_constructs_are_reversed_in_parallel(file: str, function: str) -> None:
    """No warning says that one thread does it all."""
    x = torch.rand(9, dtype=torch.float64, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error", GradientWarning)
        outputs = enzyme(CASES / file, function, flags=[*FLAGS, "-DAGAIN"])(x)
        torch.stack([y.sum() for y in (outputs if isinstance(outputs, tuple) else (outputs,))]).sum().backward()
    assert x.grad is not None and x.grad.abs().sum() > 0


def test_an_unsupported_construct_is_refused_with_its_line(compile_source: Compile) -> None:
    """``target`` and ``distribute`` have no derivative."""
    with pytest.raises(DifferentiationError) as caught:
        compile_source(TARGET, "f", name="f.f90", flags=FLAGS)
    assert caught.value.code == "openmp-construct" and caught.value.line == 8
    assert "f.f90:8" in str(caught.value)


def test_a_construct_that_the_function_never_meets_does_not_matter(compile_source: Compile) -> None:
    """Other procedures of the same file may use what cannot be differentiated."""
    f = compile_source(TARGET, "other", name="f.f90", flags=FLAGS)
    assert gradcheck(f, (torch.rand(5, dtype=torch.float64, requires_grad=True),))


@pytest.mark.parametrize("ranks", [2, 4])
def test_mpi_programs_have_gradients(ranks: int) -> None:
    """Messages, nonblocking ones and collective operations by mpif.h, against finite differences over all ranks."""
    names = ["fortran_ring", "fortran_norm", "fortran_spread", "fortran_heat", "fortran_nonblocking"]
    output = mpiexec(ranks, ROOT / "tests" / "mpi" / "ranks.py", *names)
    assert all(f"{name}: {ranks} ranks" in output for name in names)


USES_MPI = """\
subroutine f(x, y)
  {use}
  implicit none
  {include}
  real(8) :: x, y
  y = x
end subroutine
"""


def test_a_source_with_mpi_must_say_so(compile_source: Compile) -> None:
    """As in C; the line is where the header is included."""
    with pytest.raises(CompileError, match="mpi=True") as caught:
        compile_source(USES_MPI.format(use="", include="include 'mpif.h'"), "f", name="f.f90")
    assert caught.value.code == "mpi-option" and caught.value.line == 4


@pytest.mark.parametrize("module", ["mpi", "mpi_f08"])
def test_the_modules_of_mpi_are_refused_with_what_to_use_instead(
    module: str, compile_source: Compile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A module file belongs to the compiler that wrote it."""
    monkeypatch.setenv("PATH", mpi()["PATH"])
    with pytest.raises(CompileError, match="include 'mpif.h'") as caught:
        compile_source(USES_MPI.format(use=f"use {module}", include=""), "f", name="f.f90", mpi=True)
    assert caught.value.code == "mpi-module" and caught.value.line == 2
