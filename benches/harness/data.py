"""Where ADBench's files are: ``data/adbench`` of the folder ``shared`` next to the repository, or of ``FFGRAD_SHARED``."""

from __future__ import annotations

import os
from pathlib import Path

from harness.problem import REPOSITORY

MISSING = "ADBench's data is not here (set FFGRAD_SHARED to the folder that holds data/adbench)"


def adbench(name: str) -> Path | None:
    """Return the file of this name, or ``None`` where this machine does not have it."""
    shared = Path(os.environ.get("FFGRAD_SHARED", REPOSITORY.parent / "shared"))
    path = shared / "data" / "adbench" / name
    return path if path.is_file() else None
