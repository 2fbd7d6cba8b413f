"""A rod that conducts heat, in pieces: one piece a rank, and the gradient of the whole rod's warmth.

    mpiexec -n 4 python examples/mpi/heat.py

The C program exchanges the ends of the pieces in every time step (Isend, Irecv, Wait) and adds up at the end (Allreduce). Its
gradient does the same in the opposite direction. Beside it runs the same rod in PyTorch, whole, on every rank: the gradients are equal.
"""

from __future__ import annotations

from pathlib import Path

import torch
from ffgrad.torch import enzyme

HERE = Path(__file__).resolve().parent
POINTS, STEPS = 120, 60


def whole_rod(start: torch.Tensor, conductivity: torch.Tensor) -> torch.Tensor:
    """Compute the warmth of the rod in one piece."""
    u = start
    for _ in range(STEPS):
        padded = torch.nn.functional.pad(u, (1, 1))
        u = u + conductivity * (padded[:-2] - 2 * u + padded[2:])
    return (u * u).mean()


def main() -> None:
    """Compare a piece's gradient with the whole rod's."""
    add_up = enzyme(HERE / "heat.c", "add_up", "x[n] -> y[n]", mpi=True)
    one = torch.ones(1, dtype=torch.float64)
    rank = int(enzyme(HERE / "heat.c", "rank_of", mpi=True).apply(one))
    ranks = int(add_up.apply(one))
    warmth = enzyme(HERE / "heat.c", "warmth", mpi=True, sizes={"steps": STEPS}, signature="start[n], k[n] -> return")

    torch.manual_seed(0)  # the same rod on every rank
    start, conductivity = torch.rand(POINTS, dtype=torch.float64), 0.1 + 0.3 * torch.rand(POINTS, dtype=torch.float64)
    mine = slice(rank * POINTS // ranks, (rank + 1) * POINTS // ranks)
    piece, k = start[mine].clone().requires_grad_(), conductivity[mine].clone().requires_grad_()
    value = warmth.apply(piece, k)
    # Every rank has the same value: together they ask for its gradient once.
    (value / ranks).backward()

    start.requires_grad_(), conductivity.requires_grad_()
    whole_rod(start, conductivity).backward()
    assert start.grad is not None and conductivity.grad is not None and piece.grad is not None and k.grad is not None
    pieces = [(piece.grad, start.grad), (k.grad, conductivity.grad)]
    differences = sum((part - whole[mine]).abs().max() for part, whole in pieces)
    error = float(add_up.apply(torch.as_tensor(differences).reshape(1)))
    if rank == 0:
        print(
            f"{ranks} ranks, warmth {float(value.detach()):.6f}; largest differences from the whole rod's gradient: {error:.1e}"
        )
    assert error < 1e-12


if __name__ == "__main__":
    main()
