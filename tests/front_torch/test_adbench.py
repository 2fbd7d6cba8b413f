"""Real data: ADBench's Gaussian mixture, objective and gradient against its own reference files."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from ffgrad.torch import Enzyme, enzyme
from support.adbench_format import GMM_SIGNATURE, GMM_SOURCE, Gmm, data_folder, read_gmm, read_gmm_reference

TOLERANCE = 1e-12

FOLDER = data_folder() or Path("missing")
pytestmark = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="no ADBench files; FFGRAD_SHARED says where data/adbench is"
)


@cache
def objective(m: int) -> Enzyme:
    """The objective for a prior with ``m`` additional degrees of freedom."""
    return enzyme(GMM_SOURCE, "gmm_objective", GMM_SIGNATURE, sizes={"m": m})


def value_and_gradient(problem: Gmm) -> tuple[float, list[np.ndarray]]:
    """Return the objective and its gradient with respect to alphas, means and icf."""
    parameters = [torch.tensor(p, requires_grad=True) for p in problem.parameters]
    value = objective(problem.m).apply(*parameters, torch.from_numpy(problem.x), problem.gamma)
    value.backward()
    return value.item(), [p.grad.numpy() for p in parameters if p.grad is not None]


@pytest.mark.parametrize("name", ["gmm_d10_K25", "gmm_d20_K50"])
def test_the_gaussian_mixture_agrees_with_the_reference_files(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """To 1e-12: the objective relative to itself, each gradient block relative to its largest entry."""
    problem = read_gmm(FOLDER / f"{name}.txt")
    reference = read_gmm_reference(FOLDER / f"{name}.reference.txt", problem)
    value, gradient = value_and_gradient(problem)

    errors = {"objective": abs(value - reference.objective) / abs(reference.objective)}
    for block, found in zip(("alphas", "means", "icf"), gradient, strict=True):
        expected = getattr(reference, block)
        assert found.shape == expected.shape
        errors[block] = float(np.abs(found - expected).max() / np.abs(expected).max())
    with capsys.disabled():
        print(f"\n{name}: " + ", ".join(f"{block} {error:.1e}" for block, error in errors.items()))
    assert max(errors.values()) <= TOLERANCE, errors
