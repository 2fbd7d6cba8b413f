"""What ``enzyme`` and its relatives are given, checked and made ready for the driver, which reads options as JSON."""

from __future__ import annotations

import math
import os
import reprlib
from collections.abc import Iterable, Mapping
from typing import Any

from ffgrad import _native
from ffgrad.errors import ArgumentError

LAUNCH = ("grid", "block", "shared")

# Its arguments came with Python 3.12.
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 60


def refused(name: str, value: Any, takes: str, where: str = "enzyme()", function: Any = None) -> ArgumentError:
    """Return the refusal of an argument: what it is, and what it takes."""
    shown = _SHORT.repr(value)
    return ArgumentError(
        f"{where}: `{name}` is {shown}; it takes {takes}",
        argument=name,
        code="argument",
        function=function if isinstance(function, str) else None,
        expected=takes,
        found=shown,
    )


def counted(count: int, what: str) -> str:
    """Return how many there are of something: ``1 input``, ``3 inputs``."""
    return f"{count} {what}{'s' * (count != 1)}"


def number_given(count: int) -> str:
    """Return how many were given: ``1 was given``, ``3 were given``."""
    return f"{count} {'was' if count == 1 else 'were'} given"


def source_files(source: Any) -> list[str]:
    """Return the source files as a list of paths.

    Raises
    ------
    ArgumentError
        It is no path, and no list of paths.
    """
    takes = 'the path of a source file, "f.c", or a list of paths'
    single = isinstance(source, str | os.PathLike)
    if not single and (isinstance(source, bytes | Mapping) or not isinstance(source, Iterable)):
        raise refused("source", source, takes)
    files = [source] if single else list(source)
    paths = [os.fspath(file) if isinstance(file, str | os.PathLike) else None for file in files]
    if any(not isinstance(path, str) or not path for path in paths):
        raise refused("source", source, takes)
    return [path for path in paths if isinstance(path, str)]


def check_names(function: Any, signature: Any) -> None:
    """Refuse a function or a signature that is no text.

    Raises
    ------
    ArgumentError
        One of them is something else.
    """
    if not isinstance(function, str) or not _is_text(function):
        raise refused("function", function, 'the name of a function as text, "f"')
    if signature is not None and not (isinstance(signature, str) and _is_text(signature)):
        raise refused("signature", signature, 'a text, "x[n] -> y[n]", or None', function=function)


def _is_text(text: str) -> bool:
    """Whether UTF-8 has all of it: half of a surrogate pair is a part of no character."""
    return not any("\ud800" <= c <= "\udfff" for c in text)


def absolute(options: dict[str, Any]) -> None:
    """Name the folders among the options by absolute path."""
    folders = options.get("include_dirs")
    if isinstance(folders, Iterable) and not isinstance(folders, str | bytes | Mapping):
        options["include_dirs"] = [_absolute(folder) for folder in folders]
    if "snapshot_dir" in options:
        options["snapshot_dir"] = _absolute(options["snapshot_dir"])


def _absolute(folder: Any) -> Any:
    return os.path.abspath(folder) if isinstance(folder, str | os.PathLike) else folder


class _NotPlainError(Exception):
    """A value that JSON does not have."""


def plain(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options as the driver takes them, ready for JSON.

    Raises
    ------
    ArgumentError
        An option is something that no option takes.
    """
    chosen = [options.get(name) for name in LAUNCH if callable(options.get(name))]
    result = {name: _option(name, value) for name, value in options.items() if not (chosen and name in LAUNCH)}
    if chosen:
        # A callable is no text, and goes beside the options. Its name keeps functions with different ones apart; where
        # it is not at hand (in a process that read the options from a file) the launch is refused.
        result["grid"] = "launch_by_callable_" + "_".join(str(id(c)) for c in chosen)
    return result


def _option(name: str, value: Any) -> Any:
    try:
        if name == "defines" and isinstance(value, Mapping):
            return {str(macro): _define(given) for macro, given in value.items()}
        return _plain(value)
    except _NotPlainError:
        takes = _native.option_takes(name) or "no such value"
        raise refused(name, value, takes, "options of enzyme()") from None


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise _NotPlainError
        return value
    if isinstance(value, os.PathLike):
        return _plain(os.fspath(value))
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if hasattr(value, "tolist"):
        return _plain(value.tolist())  # An array, of whatever library.
    if isinstance(value, Iterable) and not isinstance(value, bytes | bytearray):
        return [_plain(v) for v in value]
    raise _NotPlainError


def _define(value: Any) -> str | None:
    if not (value is None or isinstance(value, str | int | float) or hasattr(value, "item")):
        raise _NotPlainError
    return None if value is None or value is True else str(int(value) if value is False else value)
