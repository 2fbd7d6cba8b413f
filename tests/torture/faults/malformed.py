"""Tries malformed inputs of every kind; expects a typed error or a result within the time-out, and no crash.

``damage.py`` makes them: sources that are damaged or pathological, things that are no source file at all, signatures, and calls with wrong
shapes, types and values. Nothing that was generated from a damaged source is run: what it does is its author's business.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from torture.faults.damage import arguments, damaged, place, signature  # noqa: E402
from torture.faults.races import CUBE  # noqa: E402

TIMEOUT = 10
# For sources at which a compiler waits in vain.
PATIENCE = 3
# A build has a front end and perhaps a second one, with everything emitted, and a worker; then the machine may be busy.
LONGEST = 6 * TIMEOUT
# What part of all inputs is of which kind.
SHARES = {"source": 0.4, "place": 0.1, "signature": 0.25, "call": 0.25}


@dataclass
class Malformed:
    """What malformed inputs gave."""

    tried: int = 0
    typed: int = 0
    accepted: int = 0
    classes: collections.Counter[str] = field(default_factory=collections.Counter)
    problems: list[str] = field(default_factory=list)
    longest: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether nothing but typed errors came."""
        return not self.problems and self.tried == self.typed + self.accepted


# --- the process that tries them ------------------------------------------------------------------------------


def try_one(kind: str, seed: int, folder: Path, cube: Any) -> None:
    """Try one malformed input; typed errors come out as they are."""
    from ffgrad.numpy import enzyme

    rng = random.Random(seed)
    if kind == "source":
        name, content, function = damaged(rng)
        (folder / name).write_bytes(content)
        enzyme(folder / name, function, timeout=TIMEOUT)
    elif kind == "place":
        with tempfile.TemporaryDirectory(dir=folder) as inside:
            sources, options = place(rng, Path(inside))
            enzyme(sources, "f", timeout=PATIENCE, **options)
    elif kind == "signature":
        enzyme(folder / "cube.c", "cube", signature(rng), timeout=TIMEOUT)
    else:
        given = arguments(rng)
        # The one that is as large as an address space is not to be copied.
        action: Callable[..., Any] = rng.choice([cube, cube.vjp, cube.grad])
        action(*given)


def child(kind: str, seeds: list[int]) -> None:
    """Try malformed inputs in this process; a line of JSON for each, and one before, to say which it was."""
    import ffgrad
    from ffgrad.numpy import enzyme

    folder = Path(tempfile.mkdtemp(prefix="ffgrad-malformed-"))
    os.environ["FFGRAD_CACHE_DIR"] = str(folder / "cache")
    (folder / "cube.c").write_text(CUBE)
    cube = enzyme(folder / "cube.c", "cube", "x[n] -> y[n]")
    try:
        for seed in seeds:
            print(json.dumps({"begin": seed}), flush=True)
            begin = time.monotonic()
            try:
                try_one(kind, seed, folder, cube)
                outcome = "accepted"
            except ffgrad.Error as error:
                outcome = type(error).__name__
                if not str(error).strip():
                    outcome = "an error without a text"
            except TypeError as error:
                # What is no array at all is refused as every function of Python does.
                is_typed = "must be an array, a tensor or a number" in str(error)
                outcome = "TypeError" if is_typed else f"untyped TypeError: {error}"[:300]
            except Exception as error:  # noqa: BLE001  # this is what is looked for
                outcome = f"untyped {type(error).__name__}: {error}"[:300]
            print(json.dumps({"seed": seed, "outcome": outcome, "seconds": time.monotonic() - begin}), flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run(count: int, first: int = 0, batch: int = 50) -> Malformed:
    """Try ``count`` inputs of all kinds."""
    result = Malformed()
    for kind, share in SHARES.items():
        seeds = list(range(first, first + round(count * share)))
        for begin in range(0, len(seeds), batch):
            run_batch(result, kind, seeds[begin : begin + batch])
    return result


def finished(command: list[str], limit: float) -> subprocess.CompletedProcess[str]:
    """Run a command; where it hangs, what it printed until then counts, and it has died."""
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired as late:
        output = (late.stdout or b"").decode(errors="replace") if isinstance(late.stdout, bytes) else late.stdout or ""
        return subprocess.CompletedProcess(command, -9, output, f"hung for {limit:.0f} s")


def run_batch(result: Malformed, kind: str, seeds: list[int]) -> None:
    """Try some inputs in one process; where that dies, the rest in another."""
    command = [sys.executable, str(HERE / "malformed.py"), "--child", kind, "--seeds", ",".join(map(str, seeds))]
    done = finished(command, LONGEST * len(seeds))
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    outcomes = [line for line in lines if "outcome" in line]
    for line in outcomes:
        result.tried += 1
        result.longest = max(result.longest, line["seconds"])
        outcome = line["outcome"]
        typed = outcome.endswith("Error") and " " not in outcome
        result.accepted += outcome == "accepted"
        result.typed += typed
        result.classes[outcome if typed or outcome == "accepted" else "untyped"] += 1
        if not typed and outcome != "accepted":
            result.problems.append(f"{kind} {line['seed']}: {outcome}")
        elif line["seconds"] > LONGEST:
            result.problems.append(f"{kind} {line['seed']}: took {line['seconds']:.0f} s")
    if done.returncode != 0 and len(outcomes) < len(seeds):
        died = seeds[len(outcomes)]
        result.tried += 1
        result.problems.append(f"{kind} {died}: the process died ({done.returncode}): {done.stderr[-200:]}")
        rest = seeds[len(outcomes) + 1 :]
        if rest:
            run_batch(result, kind, rest)


def report(m: Malformed) -> str:
    """Return the figures as text."""
    classes = ", ".join(f"{count} {name}" for name, count in m.classes.most_common())
    late = f"the slowest took {m.longest:.0f} s"
    return f"malformed inputs: {m.tried}: {classes}; {len(m.problems)} untyped, dead or late; {late}"


def main() -> int:
    """Parse arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=320)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--child", choices=list(SHARES), help=argparse.SUPPRESS)
    parser.add_argument("--seeds", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        child(given.child, [int(s) for s in given.seeds.split(",")])
        return 0
    result = run(given.count, given.first)
    print(report(result))
    for problem in result.problems:
        print("  " + problem)
    return 0 if result.passed else 1


if __name__ == "__main__":
    sys.exit(main())
