"""The code in documents: every Python block runs, one after the other, with the sources that the document shows.

A block of C or C++ whose first line is a comment with a file's name is that file. A document's Python blocks are one program.
"""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
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
