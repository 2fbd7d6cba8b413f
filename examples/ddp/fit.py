"""Training on several processes: torch's DistributedDataParallel around a model with a C function inside.

    torchrun --nproc-per-node 2 examples/ddp/fit.py

Each process has half of the data; DistributedDataParallel averages the gradients, also those of the C function's parameters. At
the end they are compared with those of one process that has all the data.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import torch
import torch.distributed as dist
from ffgrad.torch import enzyme
from torch import nn
from torch.nn.parallel import DistributedDataParallel

HERE = Path(__file__).resolve().parent


class Chain(nn.Module):
    """A layer that measures two amounts, and C code that lets them decay at learned rates."""

    def __init__(self) -> None:
        super().__init__()
        self.measure = nn.Linear(4, 2, dtype=torch.float64)
        self.rates = nn.Parameter(torch.zeros(2, dtype=torch.float64))
        self.decay = enzyme(HERE / "decay.c", "decay", "amounts[n,2], rates[2] -> left[n]")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map readings (n, 4) to what is left (n,)."""
        return self.decay.apply(self.measure(x), self.rates)


def gradients(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> list[torch.Tensor]:
    """Return the gradients of the mean square error."""
    model.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    return [p.grad.clone() for p in model.parameters() if p.grad is not None]


def train() -> None:
    """Train, then compare."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)  # the same data and the same first weights everywhere
    x, y = torch.randn(64, 4, dtype=torch.float64), torch.rand(64, dtype=torch.float64)
    model = Chain()
    parallel = DistributedDataParallel(model)
    optimizer = torch.optim.Adam(parallel.parameters(), 0.05)
    losses = []
    for _ in range(20):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(parallel(x[rank::ranks]), y[rank::ranks])
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    shared = gradients(parallel, x[rank::ranks], y[rank::ranks])
    alone = gradients(model, x, y)
    error = max(float((a - b).abs().max()) for a, b in zip(shared, alone, strict=True))
    if rank == 0:
        print(
            f"{ranks} processes: loss {losses[0]:.3f} to {losses[-1]:.3f}, gradient within {error:.1e} of one process's"
        )
    assert error < 1e-12 and losses[-1] < losses[0]


def main() -> None:
    """Join the other processes, train, leave.

    gloo's threads let go of their last work under the interpreter's lock, and abort the process if it finalizes meanwhile (so does
    a model without C functions: https://github.com/pytorch/pytorch/pull/179291). The pause is theirs.
    """
    dist.init_process_group("gloo")
    train()
    dist.destroy_process_group()
    time.sleep(0.2)


if __name__ == "__main__":
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    main()
