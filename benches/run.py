"""Measure gradients: ffgrad compared with gradients by hand, Enzyme alone, PyTorch and JAX. ``README.md`` explains rows and columns.

    python benches/run.py [--quick] [--only NAME ...] [--columns a,b,c]

Prints the report and writes it to ``results/<date>-<cpu>.{json,md}`` with plots beside it. Progress goes to standard error.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

BENCHES = Path(__file__).resolve().parent
sys.path.insert(0, str(BENCHES))

from harness import columns, machine, plots, report, startup  # noqa: E402
from harness.problem import Problem, Skipped, all_problems  # noqa: E402

SCALING = ["hand-fast", "hand-vec", "ffgrad", "ffgrad-torch", "eager", "compile", "jax"]
MEMORY = ["hand", "ffgrad", "ffgrad-tuned", "raw", "eager", "compile", "jax"]
# What each improvement brings: the default compared with itself without one of them.
LEFT_OUT = (
    "defer-inlining",
    "keep-results",
    "iterations",
    "derivative-arithmetic",
    "sums",
    "dead-stores",
    "scatter-to-gather",
    "reverse-loops",
    "vector-math",
)
IMPROVEMENTS = [
    *("hand-fast", "ffgrad", "ffgrad:pipeline=o1", "ffgrad:arena=False"),
    *(f"ffgrad:without={name}" for name in LEFT_OUT),
    f"ffgrad:without={';'.join(LEFT_OUT)}+arena=False+pipeline=o1",
    "ffgrad:specialize=True",
]
TIMEOUT = 1800  # seconds for one row; torch.compile of an unrolled loop takes minutes


def main() -> int:
    """Parse the command line, measure, report."""
    arguments = _parse()
    if arguments.report:
        _report({"seconds": 0.0, **json.loads(arguments.report.read_text())}, arguments.report.with_suffix(""))
        return 0
    names = arguments.columns.split(",") if arguments.columns else columns.NAMES
    start = time.perf_counter()
    described = machine.describe()
    stem = arguments.out / machine.slug(described)
    if arguments.improvements:
        names, stem = IMPROVEMENTS, stem.with_name(stem.name + "-improvements")
    results: dict[str, Any] = {
        "machine": described,
        "command": " ".join(["benches/run.py", *sys.argv[1:]]),
        "quick": arguments.quick,
        "rows": [],
        "skipped": [],
        "memory": [],
    }
    os.environ.setdefault(
        "FFGRAD_CACHE_DIR", tempfile.mkdtemp(prefix="ffgrad-bench-cache-")
    )  # what is measured is built now
    problems = [p for p in all_problems(arguments.quick) if _wanted(p.name, arguments.only)]
    for number, problem in enumerate(problems, 1):
        say(f"[{number}/{len(problems)}] {problem.name}")
        if isinstance(problem, Skipped):
            results["skipped"].append({"name": problem.name, "reason": problem.reason})
            continue
        which = [n for n in names if n in SCALING] if problem.group == "scaling" else names
        if arguments.improvements and problem.group == "scaling":
            continue
        answer = _row(problem, which, arguments.quick)
        results["rows" if "columns" in answer else "skipped"].append(answer)
        _keep(results, stem)
    if arguments.memory or not (arguments.quick or arguments.improvements):
        results["memory"] = [
            _memory(p, n) for p in problems if _suite(p) for n in MEMORY if n in names and _there(results, p, n)
        ]
    if _wanted("overhead", arguments.only) and not arguments.improvements:
        say("overhead of one call")
        results["overhead"] = _overhead(arguments.quick)
    if _wanted("startup", arguments.only) and not arguments.improvements:
        say("from source to first gradient")
        try:
            results["startup"] = startup.measure(arguments.quick)
        except Exception as error:
            results["skipped"].append({"name": "from source to first gradient", "reason": str(error)[-300:]})
    results["seconds"] = time.perf_counter() - start
    _keep(results, stem)
    _report(results, stem)
    return 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few rounds, no memory: some minutes")
    parser.add_argument(
        "--only",
        nargs="+",
        default=[],
        metavar="NAME",
        help="rows whose name contains one of these; also: overhead, startup",
    )
    extra = "; ffgrad:option=value+option=value is one more with these options"
    parser.add_argument("--columns", metavar="A,B,..", help=f"of {', '.join(columns.NAMES)}{extra}")
    parser.add_argument(
        "--improvements",
        action="store_true",
        help="ffgrad beside itself with each improvement left out, and nothing else",
    )
    parser.add_argument("--memory", action="store_true", help="peak memory in a quick run too")
    parser.add_argument(
        "--report", type=Path, metavar="JSON", help="measure nothing: write the report of these numbers"
    )
    parser.add_argument("--out", type=Path, default=BENCHES / "results", help="folder for the report (benches/results)")
    return parser.parse_args()


def _wanted(name: str, only: list[str]) -> bool:
    return not only or any(part.lower() in name.lower() for part in only)


def _suite(problem: Problem | Skipped) -> bool:
    return isinstance(problem, Problem) and problem.group == "suite"


def _there(results: dict[str, Any], problem: Problem | Skipped, column: str) -> bool:
    return any(row["name"] == problem.name and column in row["columns"] for row in results["rows"])


def _row(problem: Problem, names: list[str], quick: bool) -> dict[str, Any]:
    """Measure one row in a child; where it crashes, once more column by column to find out which to leave out."""
    answer = _child("measure.py", [problem.name, "--columns", ",".join(names)], quick)
    if "failed" not in answer:
        return answer
    say(f"    {answer['failed']}; trying every column alone")
    left = {}
    for name in names:
        alone = _child("measure.py", [problem.name, "--columns", name], quick=True)
        if "failed" in alone:
            left[name] = alone["failed"]
    again = _child("measure.py", [problem.name, "--columns", ",".join(n for n in names if n not in left)], quick)
    if "failed" in again:
        return {"name": problem.name, "reason": again["failed"]}
    again["skipped"].update(left)
    return again


def _memory(problem: Problem, column: str) -> dict[str, Any]:
    say(f"memory: {problem.name}, {column}")
    answer = _child("measure.py", [problem.name, "--memory", column], quick=False)
    return {"name": problem.name, "column": column, "reason": answer["failed"]} if "failed" in answer else answer


def _overhead(quick: bool) -> dict[str, Any]:
    answer = _child("harness/overhead.py", [], quick)
    return {"n": 16, "table": {}, "skipped": {"all": answer["failed"]}} if "failed" in answer else answer


def _child(script: str, arguments: list[str], quick: bool) -> dict[str, Any]:
    """Run a script of this folder and return what it wrote, or ``{"failed": why}``."""
    with tempfile.TemporaryDirectory(prefix="ffgrad-bench-") as folder:
        out = Path(folder) / "out.json"
        command = [
            sys.executable,
            str(BENCHES / script),
            *arguments,
            "--out",
            str(out),
            *(["--quick"] if quick else []),
        ]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
        try:
            code = process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return {"failed": f"took more than {TIMEOUT} s"}
        if not out.exists():
            return {
                "failed": f"the process ended with {code}" if code >= 0 else f"the process was ended by signal {-code}"
            }
        answer: dict[str, Any] = json.loads(out.read_text())
        return answer


def _keep(results: dict[str, Any], stem: Path) -> None:
    """Write the results so far, so that an interrupted run keeps them."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    partial = stem.with_suffix(".json.part")
    partial.write_text(json.dumps(results, indent=1) + "\n")
    partial.replace(stem.with_suffix(".json"))


def _report(results: dict[str, Any], stem: Path) -> None:
    text = report.markdown(results)
    stem.with_suffix(".md").write_text(text)
    try:
        pictures = plots.save(results, stem)
    except ImportError as error:
        say(f"no plots: {error}")
    else:
        stem.with_suffix(".md").write_text(text + "".join(f"\n![]({path.name})\n" for path in pictures))
    print(text)
    say(f"written: {stem}.json, .md and plots")


def say(text: str) -> None:
    """Report progress on standard error."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
