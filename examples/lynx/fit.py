"""A differential equation in C++, inside of an nn.Module, fitted to twenty years of hares and lynxes.

The furs that the Hudson's Bay Company bought from 1900 to 1920 (thousands; Hewitt 1921, as tabulated by Howard 2009). The rates of the
Lotka-Volterra equations and the two populations of 1900 are trained by gradients through the C++ solver; a fit of the same model by
others (Carpenter 2018, Stan case study) found rates near 0.55, 0.028, 0.024 and 0.80.

    python fit.py [--steps N] [--out FOLDER]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from ffgrad.torch import enzyme
from torch import nn

HERE = Path(__file__).resolve().parent
HARES = "30.0 47.2 70.2 77.4 36.3 20.6 18.1 21.4 22.0 25.4 27.1 40.3 57.0 76.6 52.3 19.5 11.2 7.6 14.6 16.2 24.7"
LYNXES = "4.0 6.1 9.8 35.2 59.4 41.7 19.0 13.0 8.3 9.1 7.4 8.0 12.3 19.5 45.7 51.1 29.7 15.8 9.7 10.1 8.6"
FURS = torch.tensor([[float(v) for v in row.split()] for row in (HARES, LYNXES)], dtype=torch.float64).T


class Ecosystem(nn.Module):
    """The model: positive rates and populations, kept as logarithms."""

    def __init__(self, years: int, substeps: int = 20) -> None:
        super().__init__()
        sizes = {"years": years, "substeps": substeps}
        signature = "rates[4], start[2] -> history[years,2]"
        self.solve = enzyme(HERE / "populations.cpp", "populations", signature, sizes=sizes)
        self.log_rates = nn.Parameter(torch.tensor([0.5, 0.03, 0.03, 0.9], dtype=torch.float64).log())
        self.log_start = nn.Parameter(FURS[0].log())

    def forward(self) -> torch.Tensor:
        """Return the populations, a row a year."""
        history: torch.Tensor = self.solve(self.log_rates.exp(), self.log_start.exp())
        return history


def fit(steps: int) -> tuple[Ecosystem, list[float]]:
    """Minimise the squared error of the logarithms: counts err in proportion."""
    model = Ecosystem(len(FURS))
    optimiser = torch.optim.LBFGS(
        model.parameters(), max_iter=steps, line_search_fn="strong_wolfe", tolerance_grad=1e-9
    )
    losses: list[float] = []

    def closure() -> torch.Tensor:
        optimiser.zero_grad()
        loss = (model() / FURS).log().square().mean()
        loss.backward()
        losses.append(loss.item())
        return loss

    optimiser.step(closure)
    return model, losses


def plot(model: Ecosystem, file: Path) -> None:
    """Draw the furs and the fitted curves."""
    import matplotlib.pyplot as plt

    years = torch.arange(1900, 1900 + len(FURS))
    figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
    for i, (name, colour) in enumerate((("hares", "tab:blue"), ("lynxes", "tab:red"))):
        axes.plot(years, FURS[:, i], "o", color=colour, label=f"{name}, furs")
        axes.plot(years, model().detach()[:, i], color=colour, label=f"{name}, model")
    axes.set(xlabel="year", ylabel="thousands", ylim=(0, 100), xticks=range(1900, 1921, 5))
    axes.legend(ncols=2, loc="upper right")
    figure.savefig(file, dpi=120)


def main() -> None:
    """Fit, print, plot."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--out", type=Path, default=HERE.parent / "out")
    arguments = parser.parse_args()
    model, losses = fit(arguments.steps)
    rates = ", ".join(f"{value:.3f}" for value in model.log_rates.exp().tolist())
    print(f"mean squared error of the logarithms: {losses[0]:.4f} -> {min(losses):.4f}")
    print(f"rates a year: {rates}")
    arguments.out.mkdir(parents=True, exist_ok=True)
    plot(model, arguments.out / "lynx.png")
    print(f"plot: {arguments.out / 'lynx.png'}")


if __name__ == "__main__":
    main()
