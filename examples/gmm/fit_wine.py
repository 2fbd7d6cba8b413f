"""A Gaussian mixture in C++, fitted with torch's Adam to scikit-learn's wine data.

``gmm.cpp`` computes ADBench's objective; its gradient with respect to weights, centres and inverse-covariance factors comes from
Enzyme, and the rest of the loss is ordinary torch. The script prints the log-likelihood as it rises, compares the clusters found with the three cultivars, which the fit
never sees, and saves a plot to ``examples/out/gmm_wine.png``.
"""

from __future__ import annotations

import argparse
import math
import time
from itertools import permutations
from pathlib import Path

import matplotlib
import numpy as np
import torch
from ffgrad.torch import enzyme
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine

matplotlib.use("Agg")
from matplotlib import pyplot as plt

HERE = Path(__file__).resolve().parent
FEATURES = ("alcohol", "malic_acid", "flavanoids", "color_intensity", "hue", "proline")
CLUSTERS = 3
GAMMA, M = 0.3, 0  # the prior of gmm.cpp: scale, additional degrees of freedom


def main() -> None:
    """Fit, print, plot."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--steps", type=int, default=200, help="Adam steps (default: 200)")
    parser.add_argument("--out", type=Path, default=HERE.parent / "out", help="folder of the plot")
    options = parser.parse_args()

    x, cultivar = wine()
    objective = enzyme(
        HERE / "gmm.cpp",
        "gmm_objective",
        "alphas[k], means[k,d], icf[k,d+d*(d-1)//2], const x[n,d], const gamma -> return",
        sizes={"m": M},
    )

    alphas, means, icf = start(x)
    adam = torch.optim.Adam([alphas, means, icf], lr=0.03)
    history: list[float] = []
    began = time.perf_counter()
    for step in range(options.steps + 1):
        adam.zero_grad()
        penalty, constant = wishart(icf, x.shape[1])
        likelihood = objective.apply(alphas, means, icf, x, GAMMA) - (penalty - constant)
        loss = (penalty - likelihood) / len(x)
        loss.backward()
        history.append(likelihood.item() / len(x))
        if step % max(1, options.steps // 10) == 0:
            print(f"step {step:5d}   log-likelihood per bottle: {history[-1]:9.4f}", flush=True)
        if step < options.steps:
            adam.step()
    seconds = time.perf_counter() - began

    found = assign(alphas, means, icf, x)
    right = max(np.mean(np.array(order)[found] == cultivar) for order in permutations(range(CLUSTERS)))
    print(f"{options.steps} steps in {seconds:.2f} s; {right:.0%} of the bottles in the cluster of their cultivar")
    print(f"plot: {plot(x.numpy(), found, means.detach().numpy(), history, options.out)}")
    if options.steps and history[-1] <= history[0]:
        raise SystemExit("the likelihood did not rise")


def wine() -> tuple[torch.Tensor, np.ndarray]:
    """Return the standardised features, shape (178, 6), and the cultivar of each bottle."""
    data = load_wine()
    x = data.data[:, [data.feature_names.index(name) for name in FEATURES]]
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    return torch.from_numpy(np.ascontiguousarray(x)), data.target


def start(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return first parameters: equal weights, centres from k-means, unit covariances."""
    d = x.shape[1]
    kmeans = KMeans(CLUSTERS, n_init=10, random_state=0).fit(x.numpy())
    alphas = torch.zeros(CLUSTERS, dtype=torch.float64)
    means = torch.from_numpy(kmeans.cluster_centers_)
    icf = torch.zeros(CLUSTERS, d + d * (d - 1) // 2, dtype=torch.float64)
    return alphas.requires_grad_(), means.requires_grad_(), icf.requires_grad_()


def wishart(icf: torch.Tensor, d: int) -> tuple[torch.Tensor, float]:
    """Return the two parts of what gmm.cpp adds to the likelihood, ``penalty - constant``.

    It adds the penalty, which would reward ever sharper clusters; the fit wants it subtracted.
    """
    squares = icf[:, :d].exp().square().sum() + icf[:, d:].square().sum()
    dof = d + M + 1
    log_gamma = torch.mvlgamma(torch.tensor(dof / 2, dtype=icf.dtype), d).item()
    constant = dof * d * (math.log(GAMMA) - 0.5 * math.log(2.0)) - log_gamma
    return 0.5 * GAMMA**2 * squares, CLUSTERS * constant


@torch.no_grad()
def assign(alphas: torch.Tensor, means: torch.Tensor, icf: torch.Tensor, x: torch.Tensor) -> np.ndarray:
    """Return the likeliest component of each bottle."""
    d = x.shape[1]
    columns, rows = torch.triu_indices(d, d, offset=1)  # below the diagonal, column by column
    scores = []
    for alpha, mean, row in zip(alphas, means, icf, strict=True):
        factor = torch.diag(row[:d].exp())
        factor[rows, columns] = row[d:]
        scores.append(alpha + row[:d].sum() - 0.5 * ((x - mean) @ factor.T).square().sum(dim=1))
    return torch.stack(scores).argmax(dim=0).numpy()


def plot(x: np.ndarray, found: np.ndarray, means: np.ndarray, history: list[float], out: Path) -> Path:
    """Save the likelihood's rise and the clusters in two of the features; return the file."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    left.plot(history)
    left.set(xlabel="step", ylabel="log-likelihood per bottle")
    i, j = FEATURES.index("flavanoids"), FEATURES.index("color_intensity")
    for k, colour in enumerate(("tab:blue", "tab:orange", "tab:green")):
        right.scatter(*x[found == k][:, [i, j]].T, color=colour, s=14, label=f"cluster {k + 1}")
    right.scatter(means[:, i], means[:, j], c="black", marker="x", s=60, label="centres")
    right.set(xlabel="flavanoids (standardised)", ylabel="color intensity (standardised)")
    right.legend()
    out.mkdir(parents=True, exist_ok=True)
    path = out / "gmm_wine.png"
    figure.savefig(path, dpi=120)
    plt.close(figure)
    return path


if __name__ == "__main__":
    main()
