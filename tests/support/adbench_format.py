"""ADBench's Gaussian mixture files, and their objective through the compiled ``examples/gmm/gmm.cpp``.

Files in, arrays out; the objective is called through ctypes, so that a test can distinguish a mistake in the C++ from one in ffgrad.
The files are in ``shared/data/adbench`` beside the repository, or where ``FFGRAD_SHARED`` says (the folder that holds ``data``).
The format is described in the README there.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

REPOSITORY = Path(__file__).resolve().parents[2]
GMM_SOURCE = REPOSITORY / "examples" / "gmm" / "gmm.cpp"
GMM_SIGNATURE = "alphas[k], means[k,d], icf[k,d+d*(d-1)//2], const x[n,d], const gamma -> return"


@dataclass(frozen=True)
class Gmm:
    """One problem, all arrays float64 and C-contiguous.

    Attributes
    ----------
    alphas : ndarray, shape (k,)
        Unnormalised log-weights.
    means : ndarray, shape (k, d)
        Centres.
    icf : ndarray, shape (k, d + d(d-1)/2)
        Inverse-covariance factors: log-diagonal, then the strictly lower entries column by column.
    x : ndarray, shape (n, d)
        Data points; one point repeated where the file has only one for all.
    gamma : float
        Scale of the Wishart prior.
    m : int
        Its additional degrees of freedom.
    """

    alphas: np.ndarray
    means: np.ndarray
    icf: np.ndarray
    x: np.ndarray
    gamma: float
    m: int

    @property
    def parameters(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What is differentiated, in the order of the reference files."""
        return self.alphas, self.means, self.icf


@dataclass(frozen=True)
class GmmReference:
    """Objective and gradient as ADBench's hand-derived code gives them, shaped like :class:`Gmm`."""

    objective: float
    alphas: np.ndarray
    means: np.ndarray
    icf: np.ndarray


def data_folder() -> Path | None:
    """Return the folder of the ADBench files, or ``None`` where this machine has none."""
    shared = Path(os.environ.get("FFGRAD_SHARED", REPOSITORY.parent / "shared"))
    folder = shared / "data" / "adbench"
    return folder if folder.is_dir() else None


def read_gmm(path: Path) -> Gmm:
    """Read a ``gmm_*.txt`` file.

    Raises
    ------
    ValueError
        If the file does not have the numbers that its first line promises.
    """
    numbers = np.array(path.read_text().split(), dtype=np.float64)
    d, k, n = (int(value) for value in numbers[:3])
    row = d + d * (d - 1) // 2
    head = 3 + k + k * d + k * row
    points, left_over = divmod(len(numbers) - head - 2, d)
    if left_over or points not in (1, n):
        found = len(numbers)
        raise ValueError(f"{path}: {found} numbers for d={d}, k={k}, n={n}; expected {head + n * d + 2}")
    alphas, means, icf, x, prior = np.split(numbers[3:], np.cumsum([k, k * d, k * row, points * d]))
    x = x.reshape(points, d)
    return Gmm(
        alphas=alphas.copy(),
        means=means.reshape(k, d).copy(),
        icf=icf.reshape(k, row).copy(),
        x=np.repeat(x, n, axis=0) if points != n else x.copy(),
        gamma=float(prior[0]),
        m=int(prior[1]),
    )


def read_gmm_reference(path: Path, problem: Gmm) -> GmmReference:
    """Read the ``*.reference.txt`` file that belongs to ``problem``."""
    numbers = np.array(path.read_text().split(), dtype=np.float64)
    parts = problem.parameters
    expected = 1 + sum(part.size for part in parts)
    if len(numbers) != expected:
        raise ValueError(f"{path}: {len(numbers)} numbers, expected {expected}")
    ends = np.cumsum([1] + [part.size for part in parts])[:-1]
    first, *gradient = np.split(numbers, ends)
    alphas, means, icf = (g.reshape(part.shape) for g, part in zip(gradient, parts, strict=True))
    return GmmReference(float(first[0]), alphas, means, icf)


def compiled_objective(problem: Gmm, compiler: str = "g++") -> float:
    """Return the objective of ``problem``, from ``gmm.cpp`` as ``compiler`` compiles it."""
    pointer = ctypes.POINTER(ctypes.c_double)
    arrays = [np.ascontiguousarray(a, dtype=np.float64) for a in (*problem.parameters, problem.x)]
    k, d = problem.means.shape
    function = _compile(compiler).gmm_objective
    function.restype = ctypes.c_double
    function.argtypes = [pointer] * 4 + [ctypes.c_int] * 3 + [ctypes.c_double, ctypes.c_int]
    pointers = [a.ctypes.data_as(pointer) for a in arrays]
    return function(*pointers, d, k, len(problem.x), problem.gamma, problem.m)


@lru_cache(maxsize=4)
def _compile(compiler: str) -> ctypes.CDLL:
    with TemporaryDirectory() as folder:  # the loaded library outlives its file
        library = Path(folder) / "gmm.so"
        command = [compiler, "-O2", "-shared", "-fPIC", str(GMM_SOURCE), "-o", str(library), "-lm"]
        subprocess.run(command, check=True)
        return ctypes.CDLL(str(library))
