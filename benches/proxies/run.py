"""Gradients of kernels like the field's proxy applications: time and memory over the primal's, with OpenMP, beside Enzyme alone.

    python benches/proxies/run.py [--quick] [--only NAME ...]
    python benches/proxies/run.py --write       # also benches/results/<date>-<cpu>-proxies.md

Each gradient is checked before it is timed: against finite differences, against forward mode, and the others against ffgrad's serial one.
``README.md`` explains the columns.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import competitors  # noqa: E402
import numpy as np  # noqa: E402
from checks import faults  # noqa: E402
from harness import machine, timing  # noqa: E402
from kernels import Kernel, all_kernels  # noqa: E402
from measure import difference, peak_of  # noqa: E402

TOLERANCE = 1e-6
"""How far a gradient may be from finite differences, relative to norms; from forward mode and other gradients a thousandth of it."""

TIME_AIM, MEMORY_AIM = 4.0, 3.0
TIMEOUT = 900


def main() -> int:
    """Measure every kernel, each in a process of its own, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few rounds")
    parser.add_argument("--small", action="store_true", help="the sizes of the tests")
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="NAME", help="kernels whose name contains one of these"
    )
    parser.add_argument("--write", action="store_true", help="write the report to benches/results")
    parser.add_argument("--child", nargs=2, metavar=("KERNEL", "WHAT"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    kernels = all_kernels(arguments.small)
    if arguments.child:
        name, what = arguments.child
        (kernel,) = [k for k in kernels if k.name == name]
        (small,) = [k for k in all_kernels(small=True) if k.name == name]
        answer = measured(kernel, arguments.quick) if what == "time" else memory(kernel, small, what)
        print(json.dumps(answer), file=sys.stdout, flush=True)
        os._exit(0)  # the answer is printed; no runtime's farewell can spoil it
    os.environ.setdefault("FFGRAD_CACHE_DIR", tempfile.mkdtemp(prefix="ffgrad-bench-cache-"))
    described = machine.describe()
    rows = []
    for kernel in kernels:
        if arguments.only and not any(part.lower() in kernel.name.lower() for part in arguments.only):
            continue
        rows.append(row(kernel, arguments))
        print(f"{kernel.name}: measured", file=sys.stderr, flush=True)
    text = report(rows, described)
    print(text)
    if arguments.write:
        path = HERE.parent / "results" / f"{machine.slug(described)}-proxies.md"
        path.write_text(text)
    return 1 if any("wrong" in r for r in rows) else 0


# --- one kernel ---------------------------------------------------------------------------------------


def row(kernel: Kernel, arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure one kernel in children: times in one, the memory of each competitor in others."""
    found = _child(kernel, "time", arguments)
    found |= {"kernel": kernel.name, "independent": kernel.independent, "memory": {}}
    for what in ("primal", "gradient", "raw"):
        if "times" in found and (what == "primal" or what in found["times"]):
            answer = _child(kernel, what, arguments)
            if "peak" in answer:
                found["memory"][what] = answer["peak"]
            else:
                found.setdefault("skipped", {})[f"memory of {what}"] = answer["failed"]
    return found


def _child(kernel: Kernel, what: str, arguments: argparse.Namespace) -> dict[str, Any]:
    flags = [f"--{name}" for name in ("quick", "small") if getattr(arguments, name)]
    command = [sys.executable, str(HERE / "run.py"), "--child", kernel.name, what, *flags]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return {"failed": f"took more than {TIMEOUT} s"}
    lines = done.stdout.splitlines()
    if done.returncode or not lines:
        tail = done.stderr.strip().splitlines()[-1:] or [""]
        return {"failed": f"the process ended with {done.returncode}: {tail[0][:300]}"}
    answer: dict[str, Any] = json.loads(lines[-1])
    return answer


def measured(kernel: Kernel, quick: bool) -> dict[str, Any]:
    """Build, check and time."""
    warnings.filterwarnings("ignore", category=FutureWarning)
    serial = competitors.ffgrad(kernel)
    expected = serial.result()
    answer: dict[str, Any] = {"skipped": {}, "checks": {k: float(v) for k, v in faults(kernel, expected).items()}}
    wrong = [k for k, v in answer["checks"].items() if not v <= (TOLERANCE if k == "differences" else TOLERANCE / 1e3)]
    if wrong:
        answer["wrong"] = f"ffgrad's gradient, by {' and '.join(wrong)}"
        return answer
    ready = {"primal": serial.primal, "gradient": serial.gradient}
    for name, make in _others(kernel).items():
        try:
            other = make()
            result = other.result() if other.result else None
        except Exception as error:
            answer["skipped"][name] = " ".join(f"{type(error).__name__}: {error}".split())[:300]
            continue
        error = difference(result, expected) if result else 0.0
        if not error <= TOLERANCE / 1e3:
            answer["skipped"][name] = f"its gradient is wrong, by {error:.1e} of the largest element"
            if name != "raw":
                answer["wrong"] = name
            continue
        if name in ("plain", "raw"):
            ready[name] = other.gradient or other.primal
        else:
            ready |= {f"{name} primal": other.primal, name: other.gradient}
    times = timing.interleave({n: f for n, f in ready.items() if f}, timing.QUICK if quick else timing.FULL)
    answer["times"] = {n: t.median for n, t in times.items()}
    return answer


def _others(kernel: Kernel) -> dict[str, Any]:
    if kernel.is_cuda:
        return {}
    found: dict[str, Any] = {
        "plain": lambda: competitors.plain(kernel),
        "raw": lambda: competitors.raw(kernel),
    }
    for threads in (1, 2) if kernel.parallel else ():
        found[f"OpenMP {threads}"] = lambda n=threads: competitors.ffgrad(kernel, flags=["-fopenmp"], threads=n)
    return found


def memory(kernel: Kernel, small: Kernel, what: str) -> dict[str, Any]:
    """Return the bytes of the inputs and of what one call needs at most beyond them, its results included."""
    first, column = (competitors.raw(k) if what == "raw" else competitors.ffgrad(k) for k in (small, kernel))
    first_call, call = (c.primal if what == "primal" else c.gradient for c in (first, column))
    assert first_call is not None and call is not None
    first_call()  # code that a first call loads, and a first block of the arena, do not count
    peak = peak_of(call)
    given = [x for x in kernel.inputs.values() if isinstance(x, np.ndarray)]
    if what != "primal":
        given += competitors.cotangents(kernel)
    if what == "raw":  # its results are there before the call
        given += [kernel.inputs[n] for n in kernel.active] + competitors.cotangents(kernel)
    return {"peak": peak + sum(x.nbytes for x in given)}


# --- the report ---------------------------------------------------------------------------------------


HEAD = (
    "kernel",
    "C",
    "primal",
    "gradient",
    "over primal",
    "OpenMP 1",
    "OpenMP 2",
    "raw over C",
    "memory",
    "raw memory",
)


def report(rows: list[dict[str, Any]], described: dict[str, Any]) -> str:
    """Return the table and what was left out, as Markdown."""
    table = [HEAD, *(cells(r) for r in rows)]
    widths = [max(len(line[i]) for line in table) for i in range(len(HEAD))]
    lines = [
        "# Proxy kernels: gradient over primal",
        "",
        f"{described['date']}, {described['cpu']}, {described['cores']} cores, load {described['load']} at the start;"
        f" {described['system']}; commit {described['commit']}; clang: {described['versions']['clang']}.",
        f"Command: `{' '.join(['python benches/proxies/run.py', *sys.argv[1:]])}`",
        "",
        "Times in ms, medians. *over primal*: over the faster of C and primal. *OpenMP n*: the gradient on n threads over the primal on n threads, and",
        "in brackets over the serial gradient. *memory*: peak of the gradient over the primal's, inputs included, and",
        "in brackets the gradient's in MiB.",
        "",
    ]
    for number, line in enumerate(table):
        padded = [c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(line, widths, strict=True))]
        lines.append("| " + " | ".join(padded) + " |")
        if number == 0:
            lines.append(
                "|" + "|".join("-" * (w + 2) if i == 0 else "-" * (w + 1) + ":" for i, w in enumerate(widths)) + "|"
            )
    lines += ["", *aims(rows), ""]
    for r in rows:
        for name, why in {**r.get("skipped", {}), **{k: r[k] for k in ("failed", "wrong") if k in r}}.items():
            lines.append(f"- {r['kernel']}, {name}: {why}")
    checks = [r["checks"] for r in rows if "checks" in r]
    if checks:
        worst = {key: max(c[key] for c in checks) for key in checks[0]}
        lines.append(
            f"- every gradient beside forward mode: at most {worst['identity']:.1e} apart; beside finite differences: {worst['differences']:.1e}"
        )
    return "\n".join(lines) + "\n"


def over_primal(r: dict[str, Any]) -> float:
    """Return the gradient's time over that of the faster primal."""
    times = r["times"]
    return float(times["gradient"] / min(times["primal"], times.get("plain", times["primal"])))


def memory_over(r: dict[str, Any], what: str) -> float | None:
    """Return a gradient's memory over the primal's."""
    peaks = r["memory"]
    return peaks[what] / peaks["primal"] if what in peaks and "primal" in peaks else None


def cells(r: dict[str, Any]) -> tuple[str, ...]:
    """Return a row of the table."""
    if "times" not in r:
        return (r["kernel"], *["-"] * (len(HEAD) - 1))
    times = r["times"]

    def ms(name: str) -> str:
        return f"{1e3 * times[name]:.2f}" if name in times else "-"

    def team(n: int) -> str:
        name = f"OpenMP {n}"
        if name not in times:
            return "-"
        return f"{times[name] / times[f'{name} primal']:.2f} ({times[name] / times['gradient']:.2f})"

    ratios = [memory_over(r, what) for what in ("gradient", "raw")]
    raw = f"{times['raw'] / times['plain']:.2f}" if "raw" in times else "-"
    found = [ms("plain"), ms("primal"), ms("gradient"), f"{over_primal(r):.2f}", team(1), team(2), raw]
    peaks = [r["memory"].get(what, 0) / 2**20 for what in ("gradient", "raw")]
    sizes = (f"{x:.1f} ({mib:.1f})" if x else "-" for x, mib in zip(ratios, peaks, strict=True))
    return (r["kernel"], *found, *sizes)


def aims(rows: list[dict[str, Any]]) -> list[str]:
    """Return which aims are met, and by whom they are missed."""
    timed = [r for r in rows if "times" in r]
    slow = [f"{r['kernel']} ({over_primal(r):.2f})" for r in timed if over_primal(r) > TIME_AIM]
    large = [(r, memory_over(r, "gradient")) for r in timed if r["independent"]]
    fat = [f"{r['kernel']} ({m:.2f})" for r, m in large if m and m > MEMORY_AIM]
    return [
        f"- aim: at most {TIME_AIM:g} times the primal on one thread; missed by: {', '.join(slow) or 'none'}",
        f"- aim: at most {MEMORY_AIM:g} times the primal's memory in loops of independent iterations; missed by: {', '.join(fat) or 'none'}",
    ]


if __name__ == "__main__":
    raise SystemExit(main())
