"""Write ``docs/reference/real-code.md``: what becomes of each program of ``tests/real``, and what it costs.

    .venv/bin/python scripts/real_table.py              runs every program, one at a time, each in an empty cache
    .venv/bin/python scripts/real_table.py --only fmt   runs those whose name has this text, and prints their rows

It takes about ten minutes. Order and words come from ``tests/real/programs.toml``; only the figures differ between runs.
``tests/real/test_real.py`` asserts that the page has the table's programs and results.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
if "FFGRAD_REAL_ROOT" not in os.environ:
    found = subprocess.run([ROOT / "scripts/real.sh"], stdout=subprocess.PIPE, text=True, check=True)
    os.environ["FFGRAD_REAL_ROOT"] = found.stdout.strip()

from support.real_programs import Outcome, Program, load_programs, outcome_of  # noqa: E402

DOCUMENT = ROOT / "docs/reference/real-code.md"
COMMAND = ".venv/bin/python scripts/real_table.py"
# What "in seconds" means: more than this is counted in the page's head.
SECONDS = 10
HEAD = f"""\
# Real code

What becomes of small programs that use libraries as their users do: {{right}} of {{count}} are right, {{refused}} are refused. Of those that are right,
{{fast}} take at most {SECONDS} s of CPU time to the first gradient; no process takes more than {{memory:.1f}} GB. The sources are in
[tests/real/programs](../../tests/real/programs). `make test-real` compares each at three points with finite differences and by the dot-product
identity. Libraries are Debian's packages.

This page is written by `{COMMAND}`. The first gradient starts from an empty cache: CPU seconds of compilers, Enzyme, the check and the call together;
imports are not counted. Gradient over primal is the time of a pullback over that of a call, both from Python at the sizes of the tests, so for the
smallest programs what a call costs.

| program | library | what it does | result | first gradient, CPU s | GB | gradient / primal |
|---|---|---|---|--:|--:|--:|
"""


def row(program: Program, outcome: Outcome) -> str:
    """Return a program's line of the table."""
    source = f"[{program.name}](../../tests/real/programs/{program.path.name})"
    start = f"| {source} | {program.library.name} | {program.about} |"
    if outcome.verdict == "derivatives":
        result = "right" if is_right(program, outcome) else "**wrong**"
        return f"{start} {result} | {outcome.first_cpu:.1f} | {outcome.memory:.1f} | {outcome.ratio:.1f} |\n"
    why = program.reason or outcome.code or outcome.verdict
    return f"{start} {outcome.verdict}: {why} | | | |\n"


def is_right(program: Program, outcome: Outcome) -> bool:
    """Whether the derivatives agree at all points."""
    return outcome.verdict == "derivatives" and all(
        e.differences <= program.tolerance and e.identity <= 1e-9 for e in outcome.errors
    )


def page(outcomes: list[tuple[Program, Outcome]]) -> str:
    """Return the document."""
    right = [o for p, o in outcomes if is_right(p, o)]
    head = HEAD.format(
        count=len(outcomes),
        right=len(right),
        refused=sum(o.verdict == "refused" for _, o in outcomes),
        fast=sum(o.first_cpu <= SECONDS for o in right),
        memory=max((o.memory for o in right), default=0.0),
    )
    return head + "".join(row(p, o) for p, o in outcomes)


def main() -> None:
    """Run the programs and write the document, or print a part of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", metavar="TEXT", default="")
    only = parser.parse_args().only
    programs = [p for p in load_programs() if only in p.name]
    absent = sorted({missing for p in programs if (missing := p.library.missing())})
    if absent and not only:
        sys.exit("error: " + "\n  ".join(absent))
    outcomes = []
    for program in programs:
        with tempfile.TemporaryDirectory(prefix="ffgrad-real-") as cache:
            outcomes.append((program, outcome_of(program, {"FFGRAD_CACHE_DIR": cache}, timed=True)))
        print(row(*outcomes[-1]), end="", flush=True)
    if not only:
        DOCUMENT.write_text(page(outcomes))


if __name__ == "__main__":
    main()
