"""The code blocks of the documents for PyTorch and NumPy run (``tests/support/documents.py``); generated documentation is up to date."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from ffgrad._core import Options
from support.documents import program_of
from support.fixtures import RunPython

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("document", ["pytorch.md", "numpy.md", "packs.md", "cuda.md"])
def test_the_code_of_a_document_runs(document: str, tmp_path: Path, run_python: RunPython) -> None:
    """In an empty folder, as a reader would try it."""
    run_python(program_of(document, tmp_path))


def test_the_documentation_of_options_is_that_of_the_driver() -> None:
    """Python's docstring and the README's table; what is said on failure regenerates both."""
    command = [sys.executable, ROOT / "scripts" / "option_docs.py"]
    checked = subprocess.run([*command, "--check"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    documented = re.findall(r"^    (\w+) : ", Options.__doc__ or "", re.MULTILINE)
    assert sorted(documented) == sorted(Options.__annotations__)
