"""The published call form: ``from tf_enzyme import enzyme``, ``out = enzyme(inp, filename="test.c", function="f")``."""

from __future__ import annotations

import json
import os
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ffgrad._arguments import plain
from ffgrad._core import Options
from ffgrad.tf import Enzyme
from ffgrad.tf import enzyme as open_enzyme

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["enzyme"]


def enzyme(inp: Any, filename: str, function: str, signature: str | None = None, **options: Unpack[Options]) -> Any:
    """Call a C or C++ function on tensors, differentiably.

    Parameters
    ----------
    inp
        The input, or a list or tuple of several.
    filename
        The source file.
    function
        Name of the function in it.
    signature, **options
        As :func:`ffgrad.tf.enzyme` takes them.

    Returns
    -------
    tf.Tensor or tuple of tf.Tensor
        The outputs. The function is opened once, and again when its file was changed.

    Raises
    ------
    CompileError, SignatureError, ToolchainError, CacheError
        As :func:`ffgrad.tf.enzyme`.
    tf.errors.OpError
        As :meth:`ffgrad.tf.Enzyme.apply`.
    """
    operation = _opened(filename, _stamp(filename), function, signature, json.dumps(plain(options), sort_keys=True))
    return operation.apply(*inp) if isinstance(inp, list | tuple) else operation.apply(inp)


def _stamp(filename: str) -> tuple[int, int]:
    """Return what changes when the file does; whether anything has to be built is decided by its content."""
    try:
        found = os.stat(filename)
    except OSError:
        return (0, 0)
    return (found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=256)
def _opened(filename: str, _: tuple[int, int], function: str, signature: str | None, options: str) -> Enzyme:
    return open_enzyme(filename, function, signature, **json.loads(options))
