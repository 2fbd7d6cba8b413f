"""Checks documents: every Python block runs, in order, with the sources that the document shows, and prints what it says; every path exists.

A block of C, C++ or Fortran whose first line is a comment with a file's name is that file. A document's Python blocks are one program. A block
of ``text`` right below a Python block is what that block prints. A block of ``console`` has commands behind ``$``, and below each what
it prints. ``...`` stands for any text.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"(?://|!|#) (\S+\.(?:c|cpp|h|hpp|f90|f|cu|py))\b")
# Between what one step and the next print.
MARK = "\x1e"


def write(file: Path, text: str) -> None:
    """Write a source, which may be in a folder of its own."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def sources_of(document: str, folder: Path) -> None:
    """Write the sources that a document shows into a folder."""
    for language, text in BLOCK.findall((DOCS / document).read_text()):
        if (named := NAMED.match(text)) and language != "python":
            write(folder / named[1], text)


def program_of(document: str, folder: Path, languages: Collection[str] = ("python",)) -> str:
    """Write the sources that a document shows into a folder, and return its Python blocks as one program.

    Blocks of ``py`` need what not every environment has, and run only where they are asked for.
    """
    sources_of(document, folder)
    blocks = BLOCK.findall((DOCS / document).read_text())
    program = [text for language, text in blocks if language in languages]
    assert program
    return "\n".join(program)


# Runs a command of a terminal, with the programs of this Python's environment first.
COMMAND = """\
import os, subprocess, sys
ours = {{**os.environ, "PATH": os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]}}
told = subprocess.run({!r}, shell=True, env=ours, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
print(told.stdout, end="")
"""


@dataclass
class Step:
    """A Python block or a command, and what the document says that it prints (``None`` where it does not say)."""

    program: str
    printed: str | None


def steps_of(document: str, folder: Path) -> list[Step]:
    """Write the sources that a document shows into a folder, and return what runs there, in order."""
    steps: list[Step] = []
    below, text = 0, (DOCS / document).read_text()
    for block in BLOCK.finditer(text):
        language, code = block.groups()
        named = NAMED.match(code)
        if language == "python" and not named:
            steps.append(Step(code, None))
        elif language == "console":
            for command, printed in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", code, re.MULTILINE):
                steps.append(Step(COMMAND.format(command), printed))
        elif language == "text" and steps and not text[below : block.start()].strip():
            steps[-1].printed = code
        elif named:
            write(folder / named[1], code)
        below = block.end()
    assert steps
    return steps


def as_program(steps: list[Step]) -> str:
    """Return the steps as one program, which prints a mark after each."""
    return f"print({MARK!r}, flush=True)\n".join([*(step.program for step in steps), ""])


def misprints(steps: list[Step], printed: str) -> list[tuple[str, str]]:
    """Return what steps should print and what they printed, where that differs."""
    parts = printed.split(f"{MARK}\n")
    assert len(parts) == len(steps) + 1, f"{len(parts) - 1} of {len(steps)} steps ran to their end"
    wanted = [(step.printed, part) for step, part in zip(steps, parts, strict=False) if step.printed is not None]
    return [(said, part) for said, part in wanted if not _fits(said, part)]


def _fits(said: str, printed: str) -> bool:
    pattern = ".*".join(re.escape(part) for part in said.strip().split("..."))
    return re.fullmatch(pattern, printed.strip(), re.DOTALL) is not None


# A word in backquotes that is a path: a folder with its slash, or a file with a suffix that the repository has.
PATH = re.compile(r"(?:[\w.*-]+/)+|(?:[\w.*-]+/)*[\w*-]+\.(?:c|cpp|h|jl|json|ll|log|md|py|rs|sh|so|toml|txt)|Makefile")

# Names of what is built or of packages, and parts of names.
BUILT = re.compile(r"\.so$|^\.|^_|^target/|^(?:in\.ll|ffgrad\.h|FFGrad\.jl)$")


def missing_paths(document: Path) -> list[str]:
    """Return the paths that a document names in backquotes and that do not exist.

    A path begins at the repository's root, at the folder in the heading above it, or, in the tables of passes, at the worker's sources
    or ``tests``. ``NAME`` stands for any name.
    """
    missing, heading, in_passes, in_block = [], ROOT, False, False
    for line in document.read_text().splitlines():
        if line.startswith("#"):
            named = re.search(r"`([^`]+/)`", line)
            heading = ROOT / named[1] if named else ROOT
        if line.startswith("<!--"):
            in_passes = line.startswith("<!-- passes:")
        in_block ^= line.startswith("```")
        bases = [ROOT, heading, *([ROOT / "core-ad/llvm/src", ROOT / "tests"] if in_passes else [])]
        # Drawings have no backquotes: there a source of Rust is a path, from the root or below the driver's sources.
        words = re.findall(r"[\w/-]+\.rs", line) if in_block else " ".join(re.findall(r"`([^`]+)`", line)).split()
        bases += [ROOT / "compile-driver/src"] if in_block else []
        for path in words:
            if PATH.fullmatch(path) and not BUILT.search(path):
                pattern = path.rstrip("/").replace("NAME", "*")
                if not any(next(base.glob(pattern), None) for base in bases):
                    missing.append(path)
    return missing
