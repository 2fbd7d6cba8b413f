"""Packs: functions built ahead of time for machines without a compiler (``docs/packs.md``)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from ffgrad import _native
from ffgrad._arguments import refused
from ffgrad._core import Source
from ffgrad.errors import ArgumentError


def export(
    path: Source,
    functions: Any,
    derivatives: str | Iterable[str] = "first",
    *,
    add: bool = False,
    gpu: str | Iterable[str] | None = None,
) -> dict[str, Any]:
    """Pack opened functions: a folder, or an archive, that loads where there is no compiler.

    There, ``enzyme(path, name)`` of any front end opens a function of the pack. Call the functions, and their gradients,
    with real arguments before they are packed: what was verified then counts there too. What was not is verified at its
    first call, from the pack.

    Parameters
    ----------
    path : path
        The pack: a folder, or an archive where the name ends in ``.zip`` or ``.tar``.
    functions : Enzyme, sequence of them, or mapping from names to them
        What ``enzyme(...)`` of any front end has returned. Without names each is opened by its function's.
    derivatives : {"first", "second", "forward", "taped"} or several
        What can be differentiated, by all inputs: once; twice; twice with the forward mode of the forward mode; once with
        ``mode="tape"``. None where empty.
    add : bool
        Add to a pack that is there. Otherwise it is replaced.

    gpu : str or several
        Architectures of GPUs to pack PTX of CUDA kernels for, ``"sm_80"``; none where empty. Every later GPU runs it too. By default
        ``"sm_60"``, for all of them, if the tools for GPUs are installed; the index has the reason where there is none.

    Returns
    -------
    dict
        The index of the pack: what ``ffgrad contents --json`` prints.

    Raises
    ------
    ArgumentError
        An argument is of a kind that it does not take.
    PackError
        A function cannot be packed, or ``path`` is something else.
    CompileError, DifferentiationError, CacheError
        Something that had to be built for it could not be.
    """
    if not isinstance(path, str | os.PathLike):
        raise refused("path", path, "the path of the pack", "export()")
    if not isinstance(derivatives, Iterable):
        raise refused("derivatives", derivatives, 'the name of a set, "first", or several', "export()")
    chosen = [derivatives] if isinstance(derivatives, str) else list(derivatives)
    archs = gpu if gpu is None else [gpu] if isinstance(gpu, str) else list(gpu)
    text = _native.export_pack(os.fspath(path), _named(functions), chosen, add, archs)
    index: dict[str, Any] = json.loads(text)
    return index


def _named(functions: Any) -> list[tuple[str, _native.Function]]:
    """Return the functions by name; each name stands for one."""
    if isinstance(functions, Mapping):
        return [(str(name), _of(operation)) for name, operation in functions.items()]
    operations = functions if isinstance(functions, Iterable) else [functions]
    natives = [(operation, _of(operation)) for operation in operations]
    named = [(str(operation.manifest["prototype"]["function"]), native) for operation, native in natives]
    names = [name for name, _ in named]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ArgumentError(f"several functions are called `{twice[0]}`: give names, {{'one': f, 'other': g}}")
    return named


def _of(operation: Any) -> _native.Function:
    native = getattr(operation, "_native", None)
    if not isinstance(native, _native.Function):
        raise ArgumentError(f"functions that enzyme(...) returned can be packed, not {type(operation).__name__}")
    return native
