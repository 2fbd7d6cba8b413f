"""An inverse problem: the scene behind a blurred, noisy photograph, through a camera written in C.

The camera (blur.c) is a function of the scene; its gradient, by Enzyme, carries the photograph's error back to the scene. A total-variation
term, in torch, keeps noise out. The scene is a photograph of China that comes with scikit-learn.

    python deblur.py [--steps N] [--out FOLDER]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from ffgrad.torch import enzyme
from sklearn.datasets import load_sample_image

HERE = Path(__file__).resolve().parent


def scene() -> torch.Tensor:
    """Return a photograph in grey, a quarter of its size, values from 0 to 1."""
    colours = torch.from_numpy(load_sample_image("china.jpg").copy()).permute(2, 0, 1).float() / 255
    return torch.nn.functional.avg_pool2d(colours.mean(0)[None], 4)[0]


def motion(size: int = 9) -> torch.Tensor:
    """Return the trace of a camera that moves along a diagonal and back, out of focus."""
    kernel = 0.7 * torch.eye(size) + 0.3 * torch.eye(size).flip(1)
    kernel[size // 2 - 1 : size // 2 + 2, size // 2 - 1 : size // 2 + 2] += 0.3
    return kernel / kernel.sum()


def noise_ratio(image: torch.Tensor, truth: torch.Tensor) -> float:
    """Return the peak signal-to-noise ratio in decibel."""
    return (-10 * (image - truth).square().mean().log10()).item()


def variation(image: torch.Tensor) -> torch.Tensor:
    """Return the smoothed total variation."""
    down, right = image.diff(dim=0)[:, :-1], image.diff(dim=1)[:-1]
    return (down.square() + right.square() + 1e-5).sqrt().mean()


def recover(photo: torch.Tensor, kernel: torch.Tensor, steps: int) -> torch.Tensor:
    """Find the scene whose photograph this is."""
    camera = enzyme(HERE / "blur.c", "blur", "scene[h,w], const kernel[k,k] -> photo[h,w]")
    estimate = photo.clone().requires_grad_()
    optimiser = torch.optim.LBFGS([estimate], max_iter=steps, history_size=20, line_search_fn="strong_wolfe")

    def closure() -> torch.Tensor:
        optimiser.zero_grad()
        error = (camera(estimate, kernel) - photo).square().mean()
        loss = error + 6e-5 * variation(estimate)
        loss.backward()
        return loss

    optimiser.step(closure)
    return estimate.detach()


def plot(images: dict[str, torch.Tensor], file: Path) -> None:
    """Draw the images side by side."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(images), figsize=(12, 3), layout="constrained")
    for place, (title, image) in zip(axes, images.items(), strict=True):
        place.imshow(image, cmap="gray", vmin=0, vmax=1)
        place.set_title(title)
        place.axis("off")
    figure.savefig(file, dpi=120)


def main() -> None:
    """Blur, recover, print, plot."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--out", type=Path, default=HERE.parent / "out")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    truth, kernel = scene(), motion()
    camera = enzyme(HERE / "blur.c", "blur", "scene[h,w], const kernel[k,k] -> photo[h,w]")
    photo = camera(truth, kernel) + 0.003 * torch.randn_like(truth)
    recovered = recover(photo, kernel, arguments.steps)
    print(f"signal to noise: {noise_ratio(photo, truth):.1f} dB -> {noise_ratio(recovered, truth):.1f} dB")
    arguments.out.mkdir(parents=True, exist_ok=True)
    plot({"scene": truth, "photograph": photo, "recovered": recovered}, arguments.out / "deblur.png")
    print(f"plot: {arguments.out / 'deblur.png'}")


if __name__ == "__main__":
    main()
