"""Digests of every value and derivative of the conformance table, to compare two states of the code bit by bit.

    .venv/bin/python tests/support/gradient_bits.py before.json          # on the one
    .venv/bin/python tests/support/gradient_bits.py after.json           # on the other, on the same machine
    .venv/bin/python tests/support/gradient_bits.py --compare before.json after.json

Values, vjp, jvp and hvp at one seeded point through NumPy, from a cache of its own. A refusal counts as a result: its headline is digested.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.loader import Case, load_cases  # noqa: E402


def digest(arrays: object) -> str:
    """Return a digest of the bytes of one array or of several."""
    together = hashlib.sha256()
    for array in arrays if isinstance(arrays, (tuple, list)) else (arrays,):
        together.update(b"none" if array is None else np.ascontiguousarray(array).tobytes())
    return together.hexdigest()[:16]


def attempt(compute: Callable[[], object]) -> str:
    """Return the digest of what is computed, or the refusal's first line."""
    import ffgrad

    try:
        return digest(compute())
    except ffgrad.Error as refusal:
        return f"{type(refusal).__name__}: {str(refusal).splitlines()[0]}"


def like(arrays: tuple[Any, ...], rng: np.random.Generator, wanted: Callable[[int], bool]) -> tuple[Any, ...]:
    """Draw normal numbers beside each floating-point array that is wanted."""
    draw = lambda x: np.asarray(rng.standard_normal(np.shape(x)), dtype=np.asarray(x).dtype)  # noqa: E731
    return tuple(draw(x) if wanted(i) and np.asarray(x).dtype.kind == "f" else None for i, x in enumerate(arrays))


def bits(case: Case) -> dict[str, str]:
    """Return the digests of one case."""
    from ffgrad.numpy import enzyme

    f = enzyme(case.source, case.function, case.signature, **case.options)  # type: ignore[arg-type]
    inputs, rng = tuple(case.make_inputs(1)), np.random.default_rng(7)
    tangents = like(inputs, rng, lambda i: case.inputs[i].differentiable)
    found = {"primal": attempt(lambda: f(*inputs))}
    if "." in found["primal"]:
        return found
    outputs = f(*inputs)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    cotangents = like(outputs, rng, lambda _: True)
    found["vjp"] = attempt(lambda: f.vjp(*inputs)[1](cotangents))
    found["jvp"] = attempt(lambda: f.jvp(inputs, tangents)[1])
    if "first-order" not in case.tags:
        found["hvp"] = attempt(lambda: f.hvp(inputs, tangents, cotangents))
    return found


def main() -> int:
    """Write the digests, or compare two files of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("files", nargs="+", type=Path)
    options = parser.parse_args()
    if options.compare:
        before, after = (json.loads(file.read_text()) for file in options.files)
        different = [name for name in before if after.get(name) != before[name]]
        for name in different:
            print(f"{name}: {before[name]} before, {after.get(name)} after")
        print(f"{len(before) - len(different)} of {len(before)} programs have the same bits")
        return bool(different)
    import os

    with tempfile.TemporaryDirectory() as cache:
        os.environ["FFGRAD_CACHE_DIR"] = cache
        warnings.simplefilter("ignore")
        found = {case.name: bits(case) for case in load_cases()}
    options.files[0].write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
