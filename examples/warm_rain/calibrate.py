"""Constants of a parameterisation of warm rain, calibrated to measurements of air that rises and sinks, in PyTorch.

Cloud and rain were measured every two minutes in three parcels of air, each reading a tenth off. The sources
are a folder: ``src/rain.c`` has the processes, ``src/stepper.c`` integrates them with steps and a method of its own choice, by a
callback, as LSODA does. The four constants are found by Gauss and Newton, with the Jacobian from reverse mode.

All data are made here, from a seed. ``../jax_warm_rain/calibrate.py`` does the same with JAX.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import torch
from ffgrad.torch import enzyme

HERE = Path(__file__).resolve().parent
NAMES = ["autoconversion (1/s)", "threshold (kg/kg)", "accretion (1/s)", "evaporation (1/s)"]
TRUTH = torch.tensor([1.0e-3, 5.0e-4, 2.2, 0.055], dtype=torch.float64)
GUESS = torch.tensor([3.0e-4, 1.0e-3, 1.0, 0.02], dtype=torch.float64)
START = torch.tensor([293.0, 0.0145], dtype=torch.float64)
UPDRAFTS, TIMES, INTERVAL, NOISE = [2.0, 4.0, 6.0], 15, 120.0, 0.1


def main() -> None:
    """Measure, calibrate, compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--steps", type=int, default=12, help="steps of Gauss and Newton (default: 12)")
    options = parser.parse_args()
    # A folder: what `warm_rain` reaches is found, its headers in `include` too.
    warm_rain = enzyme(
        HERE, "warm_rain", "constants[4], const start[2], updraft, interval -> water[times,2]", sizes={"times": TIMES}
    )

    def simulate(logarithms: torch.Tensor) -> torch.Tensor:
        return torch.stack([warm_rain(torch.exp(logarithms), START, w, INTERVAL) for w in UPDRAFTS])

    torch.manual_seed(2)
    clean = simulate(torch.log(TRUTH))
    sigma = NOISE * (clean + 0.02)
    measured = clean + sigma * torch.randn_like(clean)

    def misfits(logarithms: torch.Tensor) -> torch.Tensor:
        return ((simulate(logarithms) - measured) / sigma).flatten()

    at, began = torch.log(GUESS), time.perf_counter()
    losses = [misfits(at).square().mean().item()]
    damping = 1.0
    for _ in range(options.steps):
        residual = misfits(at)
        jacobian = torch.func.jacfwd(misfits)(at)
        normal = jacobian.T @ jacobian
        step = torch.linalg.solve(normal + damping * torch.eye(4, dtype=torch.float64), jacobian.T @ residual)
        loss = misfits(at - step).square().mean().item()
        if loss < losses[-1]:
            at, damping = at - step, damping / 5
            losses.append(loss)
        else:
            damping *= 5
    # The same loss by reverse mode: at its minimum it is flat.
    last = at.clone().requires_grad_()
    misfits(last).square().mean().backward()
    for name, truth, constant in zip(NAMES, TRUTH, torch.exp(at), strict=True):
        print(f"{name:21s} {constant:.3e}   (made with {truth:.3e})")
    print(f"mean squared misfit {losses[0]:.2f} -> {losses[-1]:.2f}, slope {last.grad.norm():.1e}")
    print(f"{time.perf_counter() - began:.1f} s")


if __name__ == "__main__":
    main()
