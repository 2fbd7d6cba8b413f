"""Runs the torture tests (races, faults, malformed inputs, generated programs) and reports figures: ``make torture``.

    make torture                       short: what CI runs, a few minutes
    make torture ARGS=--long           long: 64 racing processes, 1,000 kills, 10,000 inputs and programs, 1e6 calls of each kind; hours
    make torture ARGS="--only gradients --programs 2000"

Exits with 1 where anything is not as it should be. ``RESULTS.md`` beside it has the figures of the last long run.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from torture.faults import failing_tools, kills, longrun, malformed, races, signals  # noqa: E402
from torture.generators import gradients, loop_nests, value_paths  # noqa: E402

PARTS = ["races", "kills", "malformed", "faults", "signals", "calls", "loop-nests", "value-paths", "gradients"]


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--long", action="store_true", help="the numbers that ffgrad is held to")
    parser.add_argument("--only", action="append", choices=PARTS, help="this part; may be given several times")
    parser.add_argument("--processes", type=int, help="processes racing for one key")
    parser.add_argument("--kills", type=int, help="builds killed")
    parser.add_argument("--inputs", type=int, help="malformed inputs")
    parser.add_argument("--calls", type=int, help="calls of each kind, with flat memory")
    parser.add_argument("--programs", type=int, help="generated programs")
    parser.add_argument("--first", type=int, default=0, help="first seed of inputs and programs")
    parser.add_argument("--jobs", type=int, default=1, help="processes for generated programs")
    parser.add_argument("--log", type=Path, help="a file for one line of JSON per generated program")
    return parser.parse_args()


def main() -> int:
    """Run the parts and print their figures."""
    given = parse()

    def size(chosen: int | None, short: int, long: int) -> int:
        return chosen if chosen is not None else long if given.long else short

    def race() -> tuple[str, list[str], bool]:
        r = races.race(size(given.processes, 6, 64))
        return races.report(r), r.problems, r.passed

    def kill() -> tuple[str, list[str], bool]:
        k = kills.kill(size(given.kills, 10, 1000), every=5 if not given.long else 20)
        return kills.report(k), k.wrong, k.passed

    def malform() -> tuple[str, list[str], bool]:
        m = malformed.run(size(given.inputs, 80, 10_000), given.first)
        return malformed.report(m), m.problems, m.passed

    def fault() -> tuple[str, list[str], bool]:
        f = failing_tools.run() if given.long else failing_tools.run(failures=["crash"])
        return failing_tools.report(f), f.problems, f.passed

    def interrupt() -> tuple[str, list[str], bool]:
        t = signals.run() if given.long else signals.run(["clang: link", "engine"])
        return signals.report(t), t.problems, t.passed

    def call() -> tuple[str, list[str], bool]:
        r = longrun.run(size(given.calls, 20_000, 1_000_000))
        return longrun.report(r), r.problems, r.passed

    def nest() -> tuple[str, list[str], bool]:
        count = size(given.programs, 20, 2_000)
        found = loop_nests.run(given.first, count, given.jobs)
        return loop_nests.report(count, found), [f"{seed}: {what}" for seed, what in found.items()], not found

    def differentiate() -> tuple[str, list[str], bool]:
        verdicts = gradients.run(given.first, size(given.programs, 20, 10_000), given.jobs, log=given.log)
        bad = [v for v in verdicts if v.kind in ("wrong", "died", "failed")]
        return gradients.report(verdicts), [f"{v.kind} {v.seed}: {v.detail}" for v in bad], not bad

    def decide() -> tuple[str, list[str], bool]:
        verdicts = value_paths.run(given.first, size(given.programs, 20, 10_000), given.jobs, log=given.log)
        bad = [v for v in verdicts if value_paths.is_bad(v)]
        return value_paths.report(verdicts), [f"{v.kind} {v.seed}: {v.detail}" for v in bad], not bad

    parts: dict[str, Callable[[], tuple[str, list[str], bool]]] = {
        "races": race,
        "kills": kill,
        "malformed": malform,
        "faults": fault,
        "signals": interrupt,
        "calls": call,
        "loop-nests": nest,
        "value-paths": decide,
        "gradients": differentiate,
    }
    all_well = True
    for name in given.only or PARTS:
        begin = time.monotonic()
        text, problems, passed = parts[name]()
        print(f"{'ok  ' if passed else 'FAIL'} {text} [{time.monotonic() - begin:.0f} s]", flush=True)
        for problem in problems[:20]:
            print(f"       {problem[:500]}")
        all_well &= passed
    return 0 if all_well else 1


if __name__ == "__main__":
    sys.exit(main())
