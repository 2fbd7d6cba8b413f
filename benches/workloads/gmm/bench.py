"""ADBench's Gaussian mixture objective, three sizes, 1000 points each; the source is that of ``examples/gmm``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from harness.data import MISSING, adbench
from harness.problem import REPOSITORY, Function, Problem, Skipped

sys.path.append(str(REPOSITORY / "tests"))
from support.adbench_format import GMM_SIGNATURE, GMM_SOURCE, read_gmm  # noqa: E402

HERE = Path(__file__).resolve().parent


def problems(quick: bool) -> Iterator[Problem | Skipped]:
    """Yield the rows."""
    for size in ("d10_K25", "d20_K50", "d64_K50"):
        file = adbench(f"gmm_{size}.txt")
        yield Skipped(f"GMM {size}", MISSING) if file is None else _problem(f"GMM {size}", file)


def _problem(name: str, file: Path) -> Problem:
    data = read_gmm(file)
    k, d = data.means.shape
    n = len(data.x)
    return Problem(
        name=name,
        folder=HERE,
        source=GMM_SOURCE,
        function="gmm_objective",
        signature=GMM_SIGNATURE,
        inputs={"alphas": data.alphas, "means": data.means, "icf": data.icf, "x": data.x, "gamma": data.gamma},
        wrt=("alphas", "means", "icf"),
        cotangents={"return": np.float64(1.0)},
        dims={"d": d, "k": k, "n": n, "m": data.m},
        primal="alphas means icf x d k n gamma m",
        gradient="alphas means icf x d k n gamma m dalphas dmeans dicf",
        torch=lambda: _torch(d, k, n, data.gamma, data.m),
        jax=lambda: _jax(d, k, n, data.gamma, data.m),
        options={"sizes": {"m": data.m}},
    )


def _below(d: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of the entries below the diagonal, column by column."""
    column, row = np.triu_indices(d, 1)
    return row, column


def _constant(d: int, k: int, n: int, gamma: float, m: int) -> float:
    from scipy.special import multigammaln

    dof = d + m + 1
    prior = dof * d * (np.log(gamma) - 0.5 * np.log(2.0)) - multigammaln(0.5 * dof, d)
    return float(-0.5 * n * d * np.log(2.0 * np.pi) - k * prior)


def _torch(d: int, k: int, n: int, gamma: float, m: int) -> Function:
    import torch

    row, column = (torch.from_numpy(i) for i in _below(d))
    constant = _constant(d, k, n, gamma, m)

    def objective(alphas: Any, means: Any, icf: Any, x: Any, _: Any) -> Any:
        diagonal, log_det = torch.exp(icf[:, :d]), icf[:, :d].sum(1)
        q = torch.diag_embed(diagonal).index_put((torch.arange(k)[:, None], row, column), icf[:, d:])
        scaled = torch.einsum("kij,kpj->kpi", q, x - means[:, None])
        component = alphas + log_det - 0.5 * (scaled * scaled).sum(2).T
        likelihood = torch.logsumexp(component, 1).sum() - n * torch.logsumexp(alphas, 0)
        prior = 0.5 * gamma**2 * ((diagonal**2).sum() + (icf[:, d:] ** 2).sum()) - m * log_det.sum()
        return likelihood + prior + constant

    return objective


def _jax(d: int, k: int, n: int, gamma: float, m: int) -> Function:
    import jax.numpy as jnp
    from jax.scipy.special import logsumexp

    row, column = _below(d)
    constant = _constant(d, k, n, gamma, m)

    def objective(alphas: Any, means: Any, icf: Any, x: Any, _: Any) -> Any:
        diagonal, log_det = jnp.exp(icf[:, :d]), icf[:, :d].sum(1)
        index = jnp.arange(d)
        q = jnp.zeros((k, d, d)).at[:, index, index].set(diagonal).at[:, row, column].set(icf[:, d:])
        scaled = jnp.einsum("kij,kpj->kpi", q, x - means[:, None])
        component = alphas + log_det - 0.5 * (scaled * scaled).sum(2).T
        likelihood = logsumexp(component, 1).sum() - n * logsumexp(alphas)
        prior = 0.5 * gamma**2 * ((diagonal**2).sum() + (icf[:, d:] ** 2).sum()) - m * log_det.sum()
        return likelihood + prior + constant

    return objective
