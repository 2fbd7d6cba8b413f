"""The operation library ``libffgrad_tf``: loaded, and its few direct functions made callable.

Neighbours: ``tf-op/`` (its source), ``gradients.py`` (what its operations' gradients are).
"""

from __future__ import annotations

import atexit
import ctypes
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tensorflow as tf

from ffgrad import _native
from ffgrad.errors import GradientWarning, ToolchainError

_SUFFIX = "dylib" if sys.platform == "darwin" else "so"
_FILE = Path(__file__).parent.parent / "bin" / f"libffgrad_tf.{_SUFFIX}"
_MESSAGE_BYTES = 16384


class _Known(ctypes.Structure):
    """``Known`` of ``tf-op/src/exports.rs``."""

    _fields_ = [
        ("count", ctypes.c_size_t),
        ("types", ctypes.POINTER(ctypes.c_int32)),
        ("ranks", ctypes.POINTER(ctypes.c_int32)),
        ("dims", ctypes.POINTER(ctypes.c_int64)),
    ]


def _on_warning(text: bytes) -> None:
    warnings.warn(text.decode(errors="replace"), GradientWarning, stacklevel=2)


# Kept here: the library has its address.
_warn = ctypes.CFUNCTYPE(None, ctypes.c_char_p)(_on_warning)


def _load() -> tuple[Any, ctypes.CDLL]:
    if not _FILE.is_file():
        raise ToolchainError(
            f"TensorFlow's operation library `{_FILE}` is missing\n"
            "  Run `make tools` in the clone, or install the wheel again."
        )
    operations = tf.load_op_library(str(_FILE))
    if not hasattr(operations, "ffgrad_primal_v1"):
        raise ToolchainError(
            f"TensorFlow {tf.__version__} did not take the operations of `{_FILE}`\n"
            "  It must be TensorFlow 2 with its C kernel API; standard error has the reason."
        )
    direct = ctypes.CDLL(str(_FILE))
    direct.ffgrad_tf_open.argtypes = [ctypes.c_char_p]
    direct.ffgrad_tf_check.argtypes = [ctypes.c_char_p, ctypes.POINTER(_Known), ctypes.c_char_p, ctypes.c_size_t]
    direct.ffgrad_tf_on_warning.argtypes = [ctypes.c_void_p]
    direct.ffgrad_tf_on_warning.restype = None
    direct.ffgrad_tf_on_warning(ctypes.cast(_warn, ctypes.c_void_p))
    # Ctrl-C during a build; functions of the native half, which stays as long as the process.
    direct.ffgrad_tf_embed.argtypes = [ctypes.c_void_p]
    direct.ffgrad_tf_embed.restype = None
    direct.ffgrad_tf_embed(_native.interrupt_host())
    # A kernel may outlive the interpreter.
    atexit.register(direct.ffgrad_tf_on_warning, None)
    return operations, direct


def _interruptible(run: Callable[..., Any]) -> Callable[..., Any]:
    """Have an operation that Ctrl-C has ended raise what Ctrl-C raises."""

    def call(**arguments: Any) -> Any:
        try:
            return run(**arguments)
        except tf.errors.CancelledError as error:
            raise (_native.interruption() or error) from None

    return call


_operations, _direct = _load()
primal, vjp, jvp, hvp = (
    _interruptible(getattr(_operations, f"ffgrad_{name}_v1")) for name in ("primal", "vjp", "jvp", "hvp")
)
refuse: Callable[..., Any] = _operations.ffgrad_refuse_v1


def open_now(spec: bytes) -> None:
    """Open the function of a ``spec`` attribute, so that it is the one that the caller has just opened."""
    _direct.ffgrad_tf_open(spec)


def misfit(spec: bytes, tensors: list[tf.Tensor]) -> str | None:
    """Return why these inputs do not fit, as far as their static types and shapes are known; ``None`` if they do."""
    shapes = [tensor.shape for tensor in tensors]
    whole = all(shape.is_fully_defined() for shape in shapes)
    dims = [d for shape in shapes for d in shape] if whole else []
    known = _Known(
        len(tensors),
        (ctypes.c_int32 * len(tensors))(*[tensor.dtype.as_datatype_enum for tensor in tensors]),
        (ctypes.c_int32 * len(tensors))(*[shape.rank for shape in shapes]) if whole else None,
        (ctypes.c_int64 * len(dims))(*dims),
    )
    message = ctypes.create_string_buffer(_MESSAGE_BYTES)
    fits = _direct.ffgrad_tf_check(spec, ctypes.byref(known), message, _MESSAGE_BYTES) == 0
    return None if fits else message.value.decode(errors="replace")
