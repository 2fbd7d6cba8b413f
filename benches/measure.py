"""Measure one row in a process of its own, and write the results as JSON; started by ``run.py``.

    python benches/measure.py ROW --columns a,b,c --out FILE [--quick]
    python benches/measure.py ROW --memory COLUMN --out FILE

A process a row: one competitor that crashes loses one row, and memory is not what an earlier row left.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import logging
import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np
from harness import columns, timing
from harness.problem import Problem, find_problem, work_folder


def measure(problem: Problem, names: list[str], effort: timing.Effort) -> dict[str, Any]:
    """Build every column, compare its gradient with the first one's, time those that are right.

    A column whose gradient is wrong is timed too and marked: a wrong gradient is not a fast one.
    """
    ready: dict[str, columns.Column] = {}
    row: dict[str, Any] = {"name": problem.name, "group": problem.group, "columns": {}, "skipped": {}}
    expected: list[np.ndarray] | None = None
    for name in names:
        say(f"{problem.name}: building {name}")
        start = time.perf_counter()
        try:
            column = columns.make(name, problem)
            result = column.result()
        except Exception as error:
            row["skipped"][name] = reason(error)
            continue
        entry = {"note": column.note, "first": time.perf_counter() - start}
        if expected is None:
            expected = result
        else:
            entry["error"] = difference(result, expected)
            entry["wrong"] = not entry["error"] <= problem.tolerance
        row["columns"][name] = entry
        ready[name] = column
    say(f"{problem.name}: timing {len(ready)} columns")
    gradients = timing.interleave({name: column.gradient for name, column in ready.items()}, effort)
    forward = {name: column.primal for name, column in ready.items() if column.primal is not None}
    primals = timing.interleave(forward, effort)
    base = gradients.get("hand-fast") or gradients.get("hand")
    for name, times in gradients.items():
        entry = row["columns"][name]
        entry["gradient"] = times.as_dict()
        if base is not None:
            entry["over_hand"] = timing.ratio(times, base)
        # Enzyme alone has no primal of its own: that is plain C, as for the gradient by hand.
        own = primals.get(name) or (primals.get("hand") if name == "raw" else None)
        if own is not None:
            entry["primal"] = own.as_dict()
            entry["over_primal"] = times.median / own.median
    return row


def memory(problem: Problem, name: str) -> dict[str, Any]:
    """Return the peak of resident memory during one gradient beyond that before, in bytes; outputs count.

    It is the first call, so that buffers which are kept for the next one count too; only for ``compile`` and ``jax``,
    which compile in it, it is the second.
    """
    column = columns.make(name, problem)
    if name in ("compile", "jax"):
        column.gradient()
    return {"name": problem.name, "column": name, "peak": peak_of(column.gradient)}


def peak_of(call: Callable[[], Any]) -> int:
    """Return the peak of resident memory during a call beyond that before, in bytes."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from here: proc(5)
    before = _status("VmRSS")
    call()
    return max(0, _status("VmHWM") - before)


def _status(key: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1]) * 1024
    raise OSError(f"/proc/self/status has no {key}")


def difference(result: list[np.ndarray], expected: list[np.ndarray]) -> float:
    """Return the largest difference, of each gradient relative to its largest element."""
    pairs = [(np.asarray(a), np.asarray(b)) for a, b in zip(result, expected, strict=True)]
    return float(max(np.abs(a - b).max() / max(np.abs(b).max(), 1e-300) for a, b in pairs))


def reason(error: Exception) -> str:
    """Return an exception as one line for the report."""
    text = str(error) if isinstance(error, columns.Unavailable) else f"{type(error).__name__}: {error}"
    return " ".join(text.split())[:300]


def say(text: str) -> None:
    """Report progress on standard error."""
    print(f"    {text}", file=sys.stderr, flush=True)


def one_thread() -> None:
    """Hold every framework to one thread, before any is imported."""
    os.environ.update(
        OMP_NUM_THREADS="1", MKL_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", NPROC="1", JAX_PLATFORMS="cpu"
    )
    os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_cpu_multi_thread_eigen=false"
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(work_folder() / "inductor"))
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    warnings.filterwarnings("ignore", category=FutureWarning)
    logging.disable(logging.WARNING)


def main() -> None:
    """Parse the command line, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("row")
    parser.add_argument("--columns", default=",".join(columns.NAMES))
    parser.add_argument("--memory")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    one_thread()
    problem = find_problem(arguments.row, arguments.quick)
    if arguments.memory:
        answer = memory(problem, arguments.memory)
    else:
        effort = timing.QUICK if arguments.quick else timing.FULL
        answer = measure(problem, arguments.columns.split(","), effort)
    arguments.out.write_text(json.dumps(answer))


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)  # the answer is written; no framework's farewell can spoil it
