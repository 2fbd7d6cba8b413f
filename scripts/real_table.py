"""Write ``docs/real-code.md``: what becomes of each program of ``tests/real``, and how long it takes.

    .venv/bin/python scripts/real_table.py              runs every program, one at a time, each in an empty cache
    .venv/bin/python scripts/real_table.py --only fmt   runs those whose name has this text, and prints their rows

Nothing else should run meanwhile. Order and words come from ``tests/real/programs.toml``; only the figures differ between runs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from support.real_programs import Outcome, Program, load_programs, outcome_of  # noqa: E402

DOCUMENT = ROOT / "docs" / "real-code.md"
COMMAND = ".venv/bin/python scripts/real_table.py"
HEAD = f"""\
# Real code

What becomes of small programs that use libraries as their users do: {{right}} of {{count}} are right, {{refused}} are refused with a text that names the way
out, {{other}} are neither. Their sources are in [tests/real/programs](../tests/real/programs); `make test-real` compares each at three points with finite
differences (1e-6) and by the dot-product identity (1e-9). Libraries are Debian's packages.

This page is written by `{COMMAND}`. The first gradient is from opening the source to the gradient, verified, in an empty cache; imports are not
counted. Gradient over primal is the time of a pullback over that of a call, both from Python at the sizes of the tests, so for the smallest programs
what a call costs.

| program | library | what it does | result | first gradient, s | gradient / primal |
|---|---|---|---|--:|--:|
"""


def row(program: Program, outcome: Outcome) -> str:
    """Return a program's line of the table."""
    source = f"[{program.name}](../tests/real/programs/{program.path.name})"
    start = f"| {source} | {program.library.name} | {program.about} |"
    if outcome.verdict == "derivatives":
        result = "right" if is_right(program, outcome) else "**wrong**"
        return f"{start} {result} | {outcome.first:.1f} | {outcome.ratio:.1f} |\n"
    why = program.reason or outcome.code or outcome.verdict
    return f"{start} {outcome.verdict}: {why} | | |\n"


def is_right(program: Program, outcome: Outcome) -> bool:
    """Whether the derivatives agree at all points."""
    return outcome.verdict == "derivatives" and all(
        e.differences <= program.tolerance and e.identity <= 1e-9 for e in outcome.errors
    )


def main() -> None:
    """Run the programs and write the document, or print a part of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", metavar="TEXT", default="")
    only = parser.parse_args().only
    programs = [p for p in load_programs() if only in p.name]
    absent = sorted({missing for p in programs if (missing := p.library.missing())})
    if absent and not only:
        sys.exit("error: " + "\n  ".join(absent))
    rows, outcomes = [], []
    for program in programs:
        with tempfile.TemporaryDirectory(prefix="ffgrad-real-") as cache:
            outcome = outcome_of(program, {"FFGRAD_CACHE_DIR": cache}, timed=True)
        rows.append(row(program, outcome))
        outcomes.append((program, outcome))
        print(rows[-1], end="", flush=True)
    right = sum(is_right(p, o) for p, o in outcomes)
    refused = sum(o.verdict == "refused" for _, o in outcomes)
    counts = {"count": len(rows), "right": right, "refused": refused, "other": len(rows) - right - refused}
    if not only:
        DOCUMENT.write_text(HEAD.format(**counts) + "".join(rows))


if __name__ == "__main__":
    main()
