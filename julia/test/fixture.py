"""Writes the conformance table for a front end without Python: ``fixture.py FILE`` makes a JSON of every case.

In: ``tests/cases`` through its own loader. Out: how to open each case, its inputs for two seeds, its tolerances, and the
values that the NumPy reference gives. Arrays are flat and row-major, with their shape beside them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from support.loader import Case, load_cases  # noqa: E402


def flat(value: np.ndarray) -> dict[str, Any]:
    """Return an array with its type and shape; booleans as 0 and 1."""
    plain = value.astype(np.int64) if value.dtype.kind in "biu" else value.astype(np.float64)
    return {"dtype": value.dtype.name, "shape": list(value.shape), "values": plain.ravel().tolist()}


def described(case: Case) -> dict[str, Any]:
    """Return everything that a test of a case needs."""
    return {
        "name": case.name,
        "sources": [str(path) for path in case.sources],
        "function": case.function,
        "signature": case.signature,
        "options": case.options,
        "tolerance": vars(case.tolerance),
        "tags": sorted(case.tags),
        "differentiable": [item.differentiable for item in case.inputs],
        "inputs": [[flat(value) for value in case.make_inputs(seed)] for seed in (0, 1)],
        "expected": [flat(value) for value in case.expected(case.make_inputs(0))],
    }


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps([described(case) for case in load_cases()]))
