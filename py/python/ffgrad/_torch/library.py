"""Registers the operators of ``torch-ext/``, and converts their errors and warnings to those of ffgrad.

The kernels are in ``ffgrad._native``; Python adds what no C ABI can: ``formulas.py``, ``shapes.py``, ``batching.py``.
"""

from __future__ import annotations

from typing import Any

import torch

from ffgrad import _native
from ffgrad.errors import ToolchainError

if not _native.torch_register():
    raise ToolchainError(
        f"PyTorch {torch.__version__} did not take the operators of ffgrad\n"
        "  It must be PyTorch 2.10 or later; standard error has the reason."
    )

PRIMAL: Any = torch.ops.ffgrad.primal.default
VJP: Any = torch.ops.ffgrad.vjp.default
JVP: Any = torch.ops.ffgrad.jvp.default
HVP: Any = torch.ops.ffgrad.hvp.default
JVP2: Any = torch.ops.ffgrad.jvp2.default
OPERATORS: dict[str, Any] = {"primal": PRIMAL, "vjp": VJP, "jvp": JVP, "hvp": HVP, "jvp2": JVP2}

# Python's part of the registrations; they last as long as this object.
LIBRARY: Any = torch.library.Library("ffgrad", "FRAGMENT")  # type: ignore[no-untyped-call]


def typed(error: RuntimeError) -> BaseException:
    """Return the exception of :mod:`ffgrad.errors` that a failed kernel meant, or Ctrl-C's; the error itself if it meant none."""
    return _native.interruption() or _native.torch_failure(str(error)) or error
