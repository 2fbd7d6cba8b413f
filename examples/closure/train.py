"""A hybrid model: a neural network learns what a solver in C cannot resolve, from inside its time loop.

``burgers.c`` steps Burgers' equation: waves that steepen to shocks. On 512 cells it is the truth. On 32 cells the shocks fall between
the cells, and waves ring. A network with 1,000 weights looks at five neighbouring cells and adds a flux between them. It is trained *through* the
solver: 16 steps are unrolled, and the error's gradient passes alternately through the network and the C code. It is then tried on waves that it has
never seen, for eight times as long.

    python examples/closure/train.py [--epochs 500] [--out FOLDER]
"""

from __future__ import annotations

import argparse
import math
import time
from pathlib import Path

import matplotlib
import torch
from ffgrad.torch import enzyme
from torch import nn

matplotlib.use("Agg")
from matplotlib import pyplot as plt

HERE = Path(__file__).resolve().parent
FINE, COARSE, NU, UNROLLED = 512, 32, 0.004, 16
RATIO = FINE // COARSE
DT = 0.01


def waves(count: int, cells: int, seed: int) -> torch.Tensor:
    """Return random smooth waves on the ring [0, 1), mean values of cells."""
    random = torch.Generator().manual_seed(seed)
    draw = torch.randn(count, 2, 3, 1, generator=random, dtype=torch.float64)
    x = (torch.arange(cells, dtype=torch.float64) + 0.5) / cells
    k = torch.arange(1, 4, dtype=torch.float64)[:, None]
    modes = (draw[:, 0] * torch.sin(2 * math.pi * k * x) + draw[:, 1] * torch.cos(2 * math.pi * k * x)) / k
    return 0.3 * modes.sum(1)


class Closure(nn.Module):
    """A flux through each face from the five cells around it; zero in the beginning."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(5, 32), nn.Tanh(), nn.Linear(32, 24), nn.Tanh(), nn.Linear(24, 1)
        ).double()
        nn.init.zeros_(self.layers[-1].weight)
        nn.init.zeros_(self.layers[-1].bias)

    def forward(self, u: torch.Tensor) -> torch.Tensor:
        """Return the fluxes, (batch, cells)."""
        near = torch.stack([u.roll(shift, 1) for shift in (2, 1, 0, -1, -2)], dim=2)
        return 0.1 * self.layers(near)[..., 0]


def truth(step, start: torch.Tensor, steps: int) -> torch.Tensor:
    """Return what the fine grid says, averaged to coarse cells: (steps + 1, batch, cells)."""
    inner = 64
    rows, u, nothing = [], start, torch.zeros_like(start)
    for i in range(steps + 1):
        rows.append(u.reshape(len(u), COARSE, RATIO).mean(2))
        if i < steps:
            for _ in range(inner):
                u = step(u, nothing, 1 / FINE, NU, DT / inner)
    return torch.stack(rows)


def run(step, start: torch.Tensor, steps: int, closure: nn.Module | None) -> torch.Tensor:
    """Return what the coarse grid says, with or without the network."""
    rows, u = [start], start
    for _ in range(steps):
        u = step(u, closure(u) if closure else torch.zeros_like(u), 1 / COARSE, NU, DT)
        rows.append(u)
    return torch.stack(rows)


def train(step, closure: nn.Module, epochs: int) -> None:
    """Train on pieces of runs that the fine grid has made."""
    known = truth(step, waves(32, FINE, seed=0), 6 * UNROLLED)
    adam = torch.optim.Adam(closure.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(adam, 1e-2, epochs)
    random = torch.Generator().manual_seed(1)
    begin = time.perf_counter()
    for epoch in range(epochs):
        first = int(torch.randint(0, 5 * UNROLLED + 1, (), generator=random))
        wanted = known[first : first + UNROLLED + 1]
        loss = ((run(step, wanted[0], UNROLLED, closure) - wanted) ** 2).mean()
        adam.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(closure.parameters(), 0.05)
        adam.step()
        schedule.step()
        if epoch % max(1, epochs // 8) == 0 or epoch == epochs - 1:
            print(
                f"epoch {epoch:4d}   error through {UNROLLED} steps {loss.sqrt():.4f}   {time.perf_counter() - begin:.1f} s"
            )


def main() -> None:
    """Train, compare, draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=500)
    parser.add_argument("--out", type=Path, default=HERE.parent / "out")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    step = enzyme(HERE / "burgers.c", "step", "u[...,n], extra[...,n], const h, const nu, const dt -> v[...,n]")
    closure = Closure()
    train(step, closure, arguments.epochs)

    steps = 8 * UNROLLED
    with torch.no_grad():
        wanted = truth(step, waves(16, FINE, seed=99), steps)
        plain, hybrid = (run(step, wanted[0], steps, net) for net in (None, closure))
    errors = {name: ((u - wanted) ** 2).mean((1, 2)).sqrt() for name, u in (("plain", plain), ("hybrid", hybrid))}
    print(
        f"new waves, {steps} steps: error {errors['plain'][-1]:.4f} without the network, {errors['hybrid'][-1]:.4f} with it"
    )
    print(f"sum of u kept to {float((hybrid.sum(2) - wanted[0].sum(1)).abs().max()):.0e}")

    figure, axes = plt.subplots(1, 3, figsize=(12.5, 3.6), layout="constrained", width_ratios=(1, 1, 0.9))
    x = (torch.arange(COARSE) + 0.5) / COARSE
    for axis, case in zip(axes, (0, 3), strict=False):
        at = 4 * UNROLLED
        axis.plot(x, wanted[0, case], color="#b9c4d0", label="start")
        axis.plot(x, wanted[at, case], color="black", lw=2.5, label=f"truth ({FINE} cells)")
        axis.plot(x, plain[at, case], "o-", ms=3, color="#b83a3a", lw=1, label=f"{COARSE} cells")
        axis.plot(x, hybrid[at, case], "o-", ms=3, color="#1f5fa8", lw=1, label=f"{COARSE} cells and network")
        axis.set(xlabel="x", title=f"waves never seen, t = {at * DT:.2f}")
    axes[0].set_ylabel("u")
    axes[0].legend(fontsize=8)
    t = DT * torch.arange(steps + 1)
    axes[2].semilogy(t[1:], errors["plain"][1:], color="#b83a3a", label=f"{COARSE} cells")
    axes[2].semilogy(t[1:], errors["hybrid"][1:], color="#1f5fa8", label=f"{COARSE} cells and network")
    axes[2].axvspan(0, UNROLLED * DT, color="#cfe3f7", lw=0, label="unrolled in training")
    axes[2].set(xlabel="t", ylabel="error", xlim=(0, float(t[-1])))
    axes[2].legend(fontsize=8)
    arguments.out.mkdir(parents=True, exist_ok=True)
    figure.savefig(arguments.out / "closure.png", dpi=110)
    print(f"picture: {arguments.out / 'closure.png'}")


if __name__ == "__main__":
    main()
