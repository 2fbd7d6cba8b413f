"""The code in documents: every Python block runs, one after the other, with the sources that the document shows.

A block of C or C++ whose first line is a comment with a file's name is that file. A document's Python blocks are one program.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import RunPython

ROOT = Path(__file__).parents[2]
DOCUMENTS = ["pytorch.md", "numpy.md"]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(document: str) -> list[tuple[str, str]]:
    """Return language and text of every block."""
    return BLOCK.findall((ROOT / "docs" / document).read_text())


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_code_of_a_document_runs(document: str, tmp_path: Path, run_python: RunPython) -> None:
    """In an empty folder, as a reader would try it."""
    program = []
    for language, text in blocks(document):
        named = re.match(r"// (\S+\.\w+)", text)
        if named:
            (tmp_path / named[1]).write_text(text)
        elif language == "python":
            program.append(text)
    assert program
    run_python("\n".join(program))
