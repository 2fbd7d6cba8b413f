"""From source to first gradient, each time in a new process: fresh cache, warm cache, and the C++ extension for comparison."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from harness.problem import BENCHES, REPOSITORY

# Beyond imports: the clock starts when torch and ffgrad are imported. Loading tensors' first kernels is not ffgrad's either.
SCRIPT = """
import sys, time
start = time.perf_counter()
import torch
middle = time.perf_counter()
from ffgrad.torch import enzyme
imported = time.perf_counter()
torch.linspace(-1.0, 1.0, 5, requires_grad=True).sin().sum().backward()
x = torch.linspace(-2.0, 2.0, 5, requires_grad=True)
begin = time.perf_counter()
enzyme(sys.argv[1], "f").apply(x).sum().backward()
end = time.perf_counter()
assert torch.allclose(x.grad, torch.sin(x) + x * torch.cos(x), atol=1e-5)
print(end - begin, middle - start, imported - middle)
"""


def measure(quick: bool) -> dict[str, Any]:
    """Return medians in seconds, with the single values, by what was measured."""
    repeats = 3 if quick else 9
    names = ("first gradient", "import torch", "import ffgrad")
    fresh: list[list[float]] = []
    warm: list[list[float]] = []
    scratch = Path(tempfile.mkdtemp(prefix="ffgrad-bench-"))
    try:
        _run(scratch / "unmeasured")  # files of the compilers and of torch come from the disk once
        for number in range(repeats):
            cache = scratch / str(number)
            fresh.append(_run(cache))
            warm.append(_run(cache))
        result: dict[str, Any] = {
            "fresh cache": _summary([values[0] for values in fresh]),
            "warm cache": _summary([values[0] for values in warm]),
        }
        for i, name in enumerate(names[1:], 1):
            result[name] = _summary([values[i] for values in warm])
        if not quick:
            result["C++ extension"] = _extension(scratch)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return result


def _run(cache: Path) -> list[float]:
    environment = {**os.environ, "FFGRAD_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", SCRIPT, str(REPOSITORY / "examples" / "test.c")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise RuntimeError(done.stderr[-400:])
    return [float(value) for value in done.stdout.split()]


def _extension(scratch: Path) -> dict[str, Any]:
    out = scratch / "extension.json"
    command = [
        sys.executable,
        str(BENCHES / "harness" / "overhead.py"),
        "--extension",
        str(scratch / "ext"),
        "--out",
        str(out),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        return {"skipped": " ".join(done.stderr.split())[-300:]}
    return _summary([json.loads(out.read_text())["seconds"]])


def _summary(values: list[float]) -> dict[str, Any]:
    return {"median": statistics.median(values), "values": values}
