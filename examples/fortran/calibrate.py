"""A Fortran 90 model calibrated from PyTorch: five rates and a start, found from noisy counts by gradients of ``predator.f90``.

    python examples/fortran/calibrate.py        # prints the rates, writes examples/out/predator.png

The model needs no signature: its declarations suffice. ``populations(2, nt)`` arrives as a tensor of shape (2, nt). These counts hardly
determine the capacity: a larger one with more predation fits as well.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import torch
from ffgrad.torch import enzyme

HERE = Path(__file__).resolve().parent
TRUE_RATES = torch.tensor([0.9, 8.0, 0.35, 0.12, 0.4], dtype=torch.float64)
TRUE_START = torch.tensor([4.0, 1.0], dtype=torch.float64)


def main(steps: int = 1000) -> dict[str, float]:
    """Fit, plot, and return how far the fitted rates are from the true ones."""
    torch.manual_seed(0)
    simulate = enzyme(HERE / "predator.f90", "ecology::simulate")
    t = torch.linspace(0, 40, 81, dtype=torch.float64)
    truth = simulate(t, TRUE_START, TRUE_RATES)
    counts = truth * torch.exp(0.05 * torch.randn_like(truth))

    # Logarithms keep all of them positive.
    parameters = torch.log(torch.tensor([3.0, 1.5, 0.6, 6.0, 0.5, 0.08, 0.6], dtype=torch.float64)).requires_grad_()
    optimiser = torch.optim.Adam([parameters], lr=0.05)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    losses = []
    for _ in range(steps):
        optimiser.zero_grad()
        values = torch.exp(parameters)
        misfit = torch.log(simulate(t, values[:2], values[2:])) - torch.log(counts)
        loss = misfit.square().mean()
        loss.backward()
        optimiser.step()
        schedule.step()
        losses.append(loss.item())

    values = torch.exp(parameters.detach())
    fitted = simulate(t, values[:2], values[2:])
    error = ((values[2:] - TRUE_RATES) / TRUE_RATES).abs().max().item()
    print(f"misfit {losses[0]:.3f} -> {losses[-1]:.5f} in {steps} steps (noise: {0.05**2:.5f})")
    for name, value, true in zip(
        ("growth", "capacity", "predation", "gain", "loss"), values[2:], TRUE_RATES, strict=True
    ):
        print(f"  {name:9s} {value:.3f}  (true {true:.3f})")
    plot(t, truth, counts, fitted, losses)
    return {"first": losses[0], "last": losses[-1], "error": error}


def plot(t: torch.Tensor, truth: torch.Tensor, counts: torch.Tensor, fitted: torch.Tensor, losses: list[float]) -> None:
    """Counts and fit on the left, the misfit on the right."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4))
    for row, name, colour in ((0, "prey", "tab:green"), (1, "predators", "tab:red")):
        left.plot(t, counts[row], ".", color=colour, alpha=0.5)
        left.plot(t, truth[row], "--", color=colour, alpha=0.6)
        left.plot(t, fitted[row], color=colour, label=name)
    left.set(xlabel="time", ylabel="animals", title="counts (dots), truth (dashed), fit (line)")
    left.legend()
    right.semilogy(losses)
    right.set(xlabel="step", title="mean square of the misfit")
    out = HERE.parent / "out"
    out.mkdir(exist_ok=True)
    figure.savefig(out / "predator.png", dpi=120)
    print(f"plot: {(out / 'predator.png').relative_to(HERE.parent.parent)}")


if __name__ == "__main__":
    main()
