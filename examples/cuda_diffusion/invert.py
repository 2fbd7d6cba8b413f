"""What is inside the plate? An inverse problem through a CUDA kernel, on the CPU where there is no GPU.

``diffusion.cu`` moves heat through a plate by one step. Heated at five places, one after the other, the plate is photographed a few times
while it cools; from these blurred, noisy pictures alone Adam finds how well each cell conducts heat. Every step of the
optimiser runs the kernel and its gradient many times; the rest is ordinary torch. The script prints the error as it falls
and saves the true map, the pictures and the map found to ``examples/out/cuda_diffusion.png``.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import matplotlib
import torch
from ffgrad.torch import Enzyme, enzyme

matplotlib.use("Agg")
from matplotlib import pyplot as plt

HERE = Path(__file__).resolve().parent
STEPS, LOOKS, NOISE = 40, (10, 20, 40), 1e-3


def main() -> None:
    """Make data, invert, plot."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--size", type=int, default=32, help="cells along each side (default: 32)")
    parser.add_argument("--steps", type=int, default=200, help="Adam steps (default: 200)")
    parser.add_argument("--out", type=Path, default=HERE.parent / "out", help="folder of the picture")
    options = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)

    diffuse = enzyme(
        HERE / "diffusion.cu",
        "diffuse",
        "u[rows,cols], k[rows,cols] -> v[rows,cols]",
        grid=["(cols + 15) // 16", "(rows + 15) // 16"],
        block=[16, 16],
    )
    truth, heats = plate(options.size, device)
    seen = [p + NOISE * torch.randn_like(p) for heat in heats for p in pictures(diffuse, heat, truth)]

    logit = torch.full_like(truth, -1.0).requires_grad_()
    adam = torch.optim.Adam([logit], lr=0.08)
    began = time.perf_counter()
    for step in range(options.steps + 1):
        adam.zero_grad()
        found = conductivity(logit)
        shown = [p for heat in heats for p in pictures(diffuse, heat, found)]
        misfit = sum(((a - b) ** 2).mean() for a, b in zip(shown, seen, strict=True)) / NOISE**2 / len(seen)
        roughness = (found.diff(dim=0).abs().mean() + found.diff(dim=1).abs().mean()) * 20
        (misfit + roughness).backward()
        if step % max(1, options.steps // 5) == 0:
            error = (found - truth).abs().mean().item()
            print(f"step {step:4d}   misfit {misfit.item():10.3f}   mean error of the map {error:.4f}", flush=True)
        adam.step()
    print(f"{time.perf_counter() - began:.1f} s on the {device}")
    options.out.mkdir(parents=True, exist_ok=True)
    draw(truth, seen, conductivity(logit), options.out / "cuda_diffusion.png")


def conductivity(logit: torch.Tensor) -> torch.Tensor:
    """Return values between 0.02 and 0.22, where the kernel's time step is stable."""
    return 0.02 + 0.2 * logit.sigmoid()


def plate(size: int, device: str) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """Return the true map (a ring and a bar that conduct badly) and five starting temperatures of the plate."""
    line = torch.linspace(0, 1, size, dtype=torch.double, device=device)
    y, x = torch.meshgrid(line, line, indexing="ij")
    ring = ((x - 0.38) ** 2 + (y - 0.42) ** 2).sqrt().sub(0.2).abs() < 0.06
    bar = ((x - 0.78).abs() < 0.07) & ((y - 0.6).abs() < 0.28)
    truth = torch.where(ring | bar, 0.04, 0.2).to(torch.double)
    spots = [(0.38, 0.42), (0.7, 0.25), (0.6, 0.8), (0.12, 0.85), (0.9, 0.9)]
    return truth, [torch.exp(-((x - a) ** 2 + (y - b) ** 2) / 0.03) for a, b in spots]


def pictures(diffuse: Enzyme, heat: torch.Tensor, k: torch.Tensor) -> list[torch.Tensor]:
    """Return the plate's heat at the times of LOOKS."""
    taken = []
    for step in range(1, STEPS + 1):
        heat = diffuse(heat, k)
        if step in LOOKS:
            taken.append(heat)
    return taken


def draw(truth: torch.Tensor, seen: list[torch.Tensor], found: torch.Tensor, path: Path) -> None:
    """Save the picture."""
    panels = [
        ("true conductivity", truth),
        *((f"heat after {LOOKS[i]} steps", seen[i]) for i in (0, 2)),
        ("found", found),
    ]
    figure, axes = plt.subplots(1, len(panels), figsize=(13, 3.6), constrained_layout=True)
    for axis, (title, values) in zip(axes, panels, strict=True):
        limits = (0.02, 0.22) if "heat" not in title else (None, None)
        image = axis.imshow(
            values.detach().cpu().numpy(),
            cmap="magma" if "heat" in title else "viridis",
            vmin=limits[0],
            vmax=limits[1],
        )
        axis.set_title(title)
        axis.set_xticks([])
        axis.set_yticks([])
        figure.colorbar(image, ax=axis, shrink=0.8)
    figure.savefig(path, dpi=120)
    print(f"picture: {path}")


if __name__ == "__main__":
    main()
