"""Gradients for functions that exist in C, C++, Fortran and CUDA.

Each framework has a module of its own, imported when asked for: :mod:`ffgrad.torch`, :mod:`ffgrad.jax`,
:mod:`ffgrad.tf`, :mod:`ffgrad.numpy`.

    from ffgrad.torch import enzyme
    y = enzyme("test.c", "f").apply(x)
    y.sum().backward()

:func:`ffgrad.toolchain.install` fetches the compilers.
"""

from typing import Any

from ffgrad import toolchain
from ffgrad._core import __version__, copies
from ffgrad._implicit import implicit
from ffgrad._packs import export
from ffgrad.errors import (
    ArgumentError,
    CacheError,
    CacheWarning,
    ChangedInputError,
    CompileError,
    DeviceError,
    DifferentiationError,
    DtypeError,
    Error,
    ForeignError,
    GradientWarning,
    OutOfMemoryError,
    PackError,
    ShapeError,
    SignatureError,
    ToolchainError,
)

__all__ = [
    "ArgumentError",
    "CacheError",
    "CacheWarning",
    "ChangedInputError",
    "CompileError",
    "DeviceError",
    "DifferentiationError",
    "DtypeError",
    "Error",
    "ForeignError",
    "GradientWarning",
    "OutOfMemoryError",
    "PackError",
    "ShapeError",
    "SignatureError",
    "ToolchainError",
    "__version__",
    "copies",
    "export",
    "implicit",
    "toolchain",
]


def load_ipython_extension(shell: Any) -> None:
    """Let ``%load_ext ffgrad`` add the cell magic ``%%ffgrad``.

    Parameters
    ----------
    shell
        IPython's shell.
    """
    from ffgrad import _magic

    _magic.load(shell)
