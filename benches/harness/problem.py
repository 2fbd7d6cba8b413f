"""One row of the benchmark: a function, its inputs, and the arguments of each competitor.

Every folder of ``workloads/`` has a ``bench.py`` with ``problems(quick)``, which yields :class:`Problem` or, where something that it needs is
missing, :class:`Skipped`. Beside it are the source (as its author would write it), ``hand.c`` (the gradient by hand) and ``raw.c`` (the
call of Enzyme alone); both export ``gradient`` with one parameter list, and ``hand.c`` also ``primal``, which leaves its inputs as they are.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

BENCHES = Path(__file__).resolve().parents[1]
REPOSITORY = BENCHES.parent
WORKLOADS = BENCHES / "workloads"

Function = Callable[..., Any]


def work_folder() -> Path:
    """Return the folder for what is built here: ``FFGRAD_BENCH_DIR``, else ``target/bench`` of the repository."""
    folder = Path(os.environ.get("FFGRAD_BENCH_DIR", REPOSITORY / "target" / "bench")).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@dataclass(frozen=True)
class Skipped:
    """A row that cannot be measured here, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class Problem:
    """One row.

    Attributes
    ----------
    name : str
        The row's name in the table.
    folder : Path
        The workload's folder, with ``hand.*`` and ``raw.*``.
    source, function, signature, options
        What ``enzyme`` is given.
    inputs : dict
        In the order of ``.apply``: arrays; 0-d arrays for scalars with a gradient; Python numbers for constant scalars.
    wrt : tuple of str
        The inputs whose gradients are asked for.
    cotangents : dict
        By output, as named in ``primal``; ``{"return": 1.0}`` for a function's value.
    dims : dict
        The integers among the C parameters.
    primal, gradient : str
        Parameters of the two native functions by name, in C order. ``dX`` is the cotangent of output X or the gradient of input X.
    torch, jax : callable
        Return the same function for PyTorch or JAX, taking ``inputs`` in order. They import the framework, so that the
        description itself needs neither.
    compiled : callable, optional
        Returns the function for the ``compile`` column, where ``torch.compile`` of the whole is not what one would do.
    group : str
        ``"suite"`` rows make the geometric means; ``"scaling"`` rows the curves over size.
    """

    name: str
    folder: Path
    source: Path
    function: str
    signature: str | None
    inputs: dict[str, Any]
    wrt: tuple[str, ...]
    cotangents: dict[str, Any]
    dims: dict[str, int]
    primal: str
    gradient: str
    torch: Callable[[], Function]
    jax: Callable[[], Function]
    compiled: Callable[[], Function] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    defines: tuple[str, ...] = ()
    group: str = "suite"

    @property
    def mask(self) -> int:
        """Bit i is set where input i gets a gradient."""
        return sum(1 << i for i, name in enumerate(self.inputs) if name in self.wrt)

    @property
    def tolerance(self) -> float:
        """How far gradients may differ from the one by hand, relative to its largest element."""
        return 1e-3 if any(getattr(x, "dtype", None) == np.float32 for x in self.inputs.values()) else 1e-7

    def native_file(self, stem: str) -> Path:
        """Return ``hand.c`` or ``hand.cpp``, ``raw.c`` or ``raw.cpp``."""
        (path,) = self.folder.glob(f"{stem}.c*")
        return path


def rng(name: str) -> np.random.Generator:
    """Return the generator of a row's inputs, the same on every machine."""
    return np.random.default_rng(list(name.encode()))


def all_problems(quick: bool) -> Iterator[Problem | Skipped]:
    """Yield the rows of every workload, in the order of the table."""
    order = (
        "elementwise matvec_tanh nbody heat_linear heat_nonlinear heat_2d heat_3d lstm gmm bundle normalise monte_carlo"
    )
    order += " soft_histogram deposit cloth black_scholes_pde conjugate_gradient"
    names = order.split()
    found = sorted(path.parent.name for path in WORKLOADS.glob("*/bench.py"))
    for name in sorted(found, key=lambda n: (names.index(n) if n in names else len(names), n)):
        yield from _module(name).problems(quick)


def find_problem(name: str, quick: bool) -> Problem:
    """Return the row of this name.

    Raises
    ------
    KeyError
        If there is none, or it is skipped here.
    """
    for problem in all_problems(quick):
        if problem.name == name and isinstance(problem, Problem):
            return problem
    raise KeyError(name)


def _module(name: str) -> ModuleType:
    qualified = f"ffgrad_bench_{name}"
    if qualified not in sys.modules:
        spec = importlib.util.spec_from_file_location(qualified, WORKLOADS / name / "bench.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[qualified] = module
        spec.loader.exec_module(module)
    return sys.modules[qualified]
