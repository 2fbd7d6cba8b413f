"""Enzyme alone, without ffgrad: C or C++ that calls ``__enzyme_autodiff``, compiled as its manual says.

    clang -O2 (no vectorising or unrolling yet) -> LLVM IR -> catalyst (Enzyme) -> clang -O3 -march=native -> shared library

No facts about aliasing, glibc's malloc, Enzyme's own defaults. Nothing here imports or starts ffgrad; only the folder of the
tools that ``ffgrad toolchain install`` fetched is shared with it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

BEFORE = ["-fno-vectorize", "-fno-slp-vectorize", "-fno-unroll-loops"]
AFTER = ["-O3", "-march=native"]
RUNTIME = ["--rtlib=libgcc", "--unwindlib=libgcc"]  # that of the machine, not that of the clang from pip
TRIGGER = "declare void @__enzyme_autodiff_trigger(...)\n"  # Enzyme runs only where it sees such a name


class MissingTool(RuntimeError):
    """A compiler or Enzyme is not installed."""


class EngineError(RuntimeError):
    """Enzyme refused the program."""


def tools_folder() -> Path:
    """Return the folder that ``ffgrad toolchain install`` fills."""
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(os.environ.get("FFGRAD_TOOLS_DIR") or Path(data) / "ffgrad" / "tools")


def clang(cpp: bool = False) -> Path:
    """Return clang 22, or clang++."""
    name = "clang++" if cpp else "clang"
    here = sorted(tools_folder().glob(f"llvm-*/bin/{name}"))
    for candidate in (*reversed(here), shutil.which(f"{name}-22"), shutil.which(name)):
        if candidate:
            return Path(candidate)
    raise MissingTool(f"{name} is not installed")


def compiler(cpp: bool) -> list[str]:
    """Return clang, or clang++ with the machine's own C++ library (that of pip has libc++ as its default)."""
    return [str(clang(cpp)), "-stdlib=libstdc++"] if cpp else [str(clang())]


def catalyst() -> Path:
    """Return the executable that holds Enzyme."""
    found = sorted(tools_folder().glob("*/bin/catalyst"))
    if not found:
        raise MissingTool("catalyst (Enzyme) is not installed")
    return found[-1]


def link(objects: list[Path], library: Path, cpp: bool) -> None:
    """Link a shared library, with g++ where clang cannot."""
    files = [str(path) for path in objects]
    tail = ["-shared", "-o", str(library), "-lm"]
    try:
        run([*compiler(cpp), *files, *RUNTIME, *tail])
    except (EngineError, MissingTool):
        gcc = shutil.which("g++") or shutil.which("gcc")
        if gcc is None:
            raise
        run([gcc, *files, *tail])


def run(command: list[str], stdin: str | None = None) -> str:
    """Run a tool and return what it prints.

    Raises
    ------
    EngineError
        With the tail of its messages.
    """
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if "unknown tbaa" not in line]
        reasons = [line[line.index("Enzyme:") :] for line in lines if "Enzyme:" in line]
        text = reasons[0][:200] if reasons else " ".join(lines[-3:])[-400:]
        raise EngineError(f"{Path(command[0]).name} ended with {done.returncode}: {text}")
    return done.stdout


def build(source: Path, library: Path, defines: tuple[str, ...] = ()) -> str:
    """Differentiate and compile ``source``.

    Returns
    -------
    str
        The level before Enzyme: ``"-O2"``, or ``"-O1"`` where Enzyme refuses that.

    Raises
    ------
    EngineError, MissingTool
    """
    cpp = source.suffix != ".c"
    macros = [f"-D{d}" for d in defines]
    for level in ("-O2", "-O1"):
        command = [*compiler(cpp), level, *BEFORE, *macros, "-fPIC", "-S", "-emit-llvm", str(source), "-o", "-"]
        before = run(command) + TRIGGER
        try:
            after = run([str(catalyst()), "--tool=llc", "-o", "-", "-"], stdin=before)
            break
        except EngineError:
            if level == "-O1":
                raise
    ir, code = library.with_suffix(".ll"), library.with_suffix(".o")
    ir.write_text(after)
    run([str(clang()), *AFTER, "-fPIC", "-x", "ir", "-c", str(ir), "-o", str(code)])
    link([code], library, cpp)
    return level
