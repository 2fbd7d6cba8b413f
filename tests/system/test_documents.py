"""The code in the documents of PyTorch and NumPy runs; what counts as code says ``tests/support/documents.py``."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.documents import program_of
from support.fixtures import RunPython


@pytest.mark.parametrize("document", ["pytorch.md", "numpy.md", "packs.md", "cuda.md"])
def test_the_code_of_a_document_runs(document: str, tmp_path: Path, run_python: RunPython) -> None:
    """In an empty folder, as a reader would try it."""
    run_python(program_of(document, tmp_path))
