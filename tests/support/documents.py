"""Checks documents: every Python block runs, in order, with the sources that the document shows; every path exists.

A block of C or C++ whose first line is a comment with a file's name is that file. A document's Python blocks are one program.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def program_of(document: str, folder: Path) -> str:
    """Write the sources that a document shows into a folder, and return its Python blocks as one program."""
    program = []
    for language, text in BLOCK.findall((DOCS / document).read_text()):
        named = re.match(r"// (\S+\.\w+)", text)
        if named:
            (folder / named[1]).write_text(text)
        elif language == "python":
            program.append(text)
    assert program
    return "\n".join(program)


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
