"""What each rank of the MPI tests runs: ``mpiexec -n N python ranks.py NAME..``.

Each program's gradient on every rank against finite differences in which one number on one rank moves and the outputs of all
ranks answer. Rank 0 prints the worst deviation; a wrong gradient ends the program with an error.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from ffgrad.torch import Enzyme, enzyme

HERE = Path(__file__).resolve().parent
STEP = 1e-6

# Name -> source, function, signature, shapes of the inputs, sizes.
PROGRAMS = {
    "ring": ("programs.c", "ring", "x[n] -> y[n]", [(5,)], {}),
    "norm": ("programs.c", "norm", "x[n] -> return", [(4,)], {}),
    "model": ("programs.c", "model", "p[k], x[n] -> y[n]", [(3,), (4,)], {}),
    "heat": ("programs.c", "heat", "u0[n] -> u[n]", [(4,)], {"steps": 3}),
    "spread": ("programs.c", "spread", "x[n] -> return", [(3,)], {}),
    "fortran_ring": ("programs.f90", "ring", None, [(5,)], {}),
    "fortran_norm": ("programs.f90", "norm", None, [(4,)], {}),
    "fortran_spread": ("programs.f90", "spread_out", None, [(3,)], {}),
    "fortran_heat": ("programs.f90", "heat", None, [(4,)], {"steps": 3}),
    "fortran_nonblocking": ("programs.f90", "heat_nonblocking", None, [(4,)], {"steps": 3}),
}


def opened(source: str, function: str, signature: str | None, sizes: dict[str, int]) -> Enzyme:
    """Open a function of the programs beside this file."""
    return enzyme(HERE / source, function, signature, mpi=True, sizes=sizes)


def check(name: str, total: Enzyme) -> float:
    """Return the largest difference between this program's gradient and finite differences, over all ranks."""
    source, function, signature, shapes, sizes = PROGRAMS[name]
    operation = opened(source, function, signature, sizes)
    inputs = [torch.rand(shape, dtype=torch.float64).requires_grad_() for shape in shapes]
    value = operation.apply(*inputs)
    cotangent = torch.rand_like(value)
    gradients = torch.autograd.grad(value, inputs, cotangent)

    def moved(argument: int, index: int, step: float, is_mine: bool) -> torch.Tensor:
        point = [x.detach().clone() for x in inputs]
        if is_mine:
            point[argument].view(-1)[index] += step
        return total.apply((operation.apply(*point) * cotangent).sum().reshape(1)).detach()

    worst = 0.0
    for moving in range(SIZE):
        for argument, x in enumerate(inputs):
            # The ends of a stretch are what the neighbours see.
            for index in sorted({0, x.numel() - 1}):
                plus, minus = (moved(argument, index, step, moving == RANK) for step in (STEP, -STEP))
                if moving == RANK:
                    expected = float(plus - minus) / (2 * STEP)
                    difference = expected - float(gradients[argument].view(-1)[index])
                    worst = max(worst, abs(difference) / max(1.0, abs(expected)))
    return float(total.apply(torch.tensor([worst], dtype=torch.float64)))


def numbering() -> tuple[int, int]:
    """Return this rank and the number of ranks, by counting in MPI itself."""
    one = torch.ones(1, dtype=torch.float64)
    rank = opened("programs.c", "my_rank", None, {})
    return int(rank.apply(one)), int(opened("programs.c", "total", None, {}).apply(one))


if __name__ == "__main__":
    RANK, SIZE = numbering()
    torch.manual_seed(RANK)
    summed = opened("programs.c", "total", None, {})
    for program in sys.argv[1:] or PROGRAMS:
        error = check(program, summed)
        if RANK == 0:
            print(f"{program}: {SIZE} ranks, summed error {error:.1e}", flush=True)
        assert error < 1e-6, f"{program} on rank {RANK}: {error}"
