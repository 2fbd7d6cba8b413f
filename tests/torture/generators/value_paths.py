"""Tests programs whose control flow depends on values: a first call at a special point, then twenty others.

    python tests/torture/generators/value_paths.py --count 1000 --first 0 --jobs 2
    python tests/torture/generators/value_paths.py --count 100 --language fortran

Each program runs in a process of its own. Its first call, which ffgrad verifies, has sorted, positive, zero, constant or random numbers: first calls of
real programs often have special ones. A program counts as *right*, *recovered*, *refused*, *warned* or *wrong* as in :mod:`gradients`, *unusable* where no
point could be compared; *died* is a process that crashed, *unfinished* one that was ended because it took too long (another look at it alone tells whether it hangs),
*changed* one whose inputs were written to. None may be wrong, die, hang or change an input.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from torture.generators import generator, gradients, value_programs, value_programs_fortran  # noqa: E402
from torture.generators.gradients import NOT_FINITE, Verdict  # noqa: E402
from torture.generators.hyperdual import Reference, sizes  # noqa: E402
from torture.generators.value_programs import ValueProgram  # noqa: E402

LANGUAGES = {"c": value_programs.generate, "fortran": value_programs_fortran.generate}
SIZES = (7, 5, 9, 12)
# One program in so many has its second derivatives compared too: these take most of the time.
SECOND_ORDER_EACH = 16
LATER = 20
WORKER_FAILED = "the worker failed on"
STARTS = ("sorted", "positive", "zero", "constant", "random", "reversed", "random")
# Seconds for one program, builds included: more than all time limits of its builds together.
PATIENCE = 600.0


def point_of(kind: str, count: int, rng: np.random.Generator) -> np.ndarray:
    """Draw the numbers of a call, in single precision throughout."""
    numbers = rng.standard_normal(count)
    made = {
        "sorted": lambda: np.sort(numbers),
        "reversed": lambda: np.sort(numbers)[::-1],
        "positive": lambda: np.abs(numbers) + 0.1,
        "negative": lambda: -np.abs(numbers) - 0.1,
        "zero": lambda: np.zeros(count),
        "constant": lambda: np.full(count, 0.75),
        "small": lambda: 0.1 * numbers,
        "random": lambda: numbers,
    }
    return made[kind]().astype(np.float32).astype(np.float64)


def source_of(program: ValueProgram) -> str:
    """Return the program as a file that stands alone."""
    if program.fortran:
        return program.fortran
    header = value_programs.CPP_HEADER if program.is_cpp else ""
    return header + generator.c_source(program)


def call_once(f: object, program: ValueProgram, point: np.ndarray, n: int) -> str:
    """Call all modes where the reference has no derivative (ties), and check that the inputs are unchanged."""
    inputs = gradients.inputs_of(program, point, n)
    before = [i.tobytes() for i in inputs]
    value, pull = f.vjp(*inputs)  # type: ignore[attr-defined]
    pull(gradients.outputs_of(program, np.ones(len(gradients.joined(value))), n))
    f.jvp(tuple(inputs), tuple(np.ones_like(i) for i in inputs))  # type: ignore[attr-defined]
    return "" if [i.tobytes() for i in inputs] == before else "an input was written to"


def judge(program: ValueProgram, reference: Reference, folder: Path, **options: object) -> Verdict:
    """Put one program through a first call and the later ones."""
    import ffgrad
    from ffgrad.numpy import enzyme

    verdict = Verdict(program.seed, "right", features=sorted(program.features))
    rng = np.random.default_rng(program.seed)
    start = STARTS[program.seed % len(STARTS)]
    kinds = [
        start,
        *(("random", "random", "sorted", "positive", "small", "negative", "reversed")[i % 7] for i in range(LATER)),
    ]
    path = folder / f"{program.name}{program.suffix}"
    path.write_text(source_of(program))
    compare = gradients.compare if program.seed % SECOND_ORDER_EACH == 0 else first_order
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            f = enzyme(path, program.name, program.signature, **options)  # type: ignore[arg-type]
            for i, kind in enumerate(kinds):
                n = SIZES[0] if i == 0 else SIZES[i % len(SIZES)]
                count = sizes(program, n)[0]
                point, tangent = point_of(kind, count, rng), point_of("random", count, rng)
                truth = reference.at(program, point, tangent, n)
                if gradients.usable(truth, program.single):
                    wrong, refused = compare(f, program, truth, point, tangent, n, rng)
                    verdict.points += 1
                    if refused:
                        verdict.kind, verdict.detail = "refused-second", refused
                else:
                    verdict.skipped += 1
                    wrong = call_once(f, program, point, n)
                if wrong:
                    visible = all(NOT_FINITE in part for part in wrong.split("; "))
                    verdict.kind = "changed" if "written to" in wrong else "overflowed" if visible else "wrong"
                    verdict.detail = f"first call at {start} numbers, call {i} at {kind}, n={n}: {wrong}"
                    break
        except (ffgrad.DifferentiationError, ffgrad.OutOfMemoryError) as error:
            verdict.kind, verdict.detail = "refused", str(error)
        except ffgrad.Error as error:
            verdict.kind, verdict.detail = "failed", f"{type(error).__name__}: {error}"
    if WORKER_FAILED in verdict.detail:
        # A crash of ffgrad's own is no refusal, though users get the same class of error.
        verdict.kind = "failed"
    said = [str(w.message) for w in caught if issubclass(w.category, ffgrad.GradientWarning)]
    if verdict.kind == "wrong" and said:
        verdict.kind = "warned"
    if verdict.kind == "right":
        verdict.rejected = "; ".join(gradients.rejected_pipelines(f))
        verdict.kind = "recovered" if verdict.rejected else "right"
        if not verdict.points:
            # Nothing was compared: at every point the reference came too near a tie or a limit.
            verdict.kind = "unusable"
    if said:
        verdict.detail += f" [warning: {said[0][:160]}]"
    return verdict


def first_order(
    f: object, program: ValueProgram, truth: object, point: np.ndarray, tangent: np.ndarray, n: int, rng: object
) -> tuple[str, str]:
    """Compare values and first derivatives: second ones take most of the time, and other tests have them."""
    inputs, tangents = gradients.inputs_of(program, point, n), gradients.inputs_of(program, tangent, n)
    cotangent = rng.standard_normal(len(truth.value)).astype(np.float32).astype(np.float64)  # type: ignore[attr-defined]
    before = [i.tobytes() for i in inputs]
    value, pull = f.vjp(*inputs)  # type: ignore[attr-defined]
    gradient = gradients.joined(pull(gradients.outputs_of(program, cotangent, n)))
    _, along = f.jvp(tuple(inputs), tuple(tangents))  # type: ignore[attr-defined]
    scale = float(np.max(np.abs(truth.jacobian), initial=0.0))  # type: ignore[attr-defined]
    found = [
        gradients.difference("value", gradients.joined(value), truth.value, 1.0, program.single),  # type: ignore[attr-defined]
        gradients.difference("vjp", gradient, cotangent @ truth.jacobian, scale, program.single),  # type: ignore[attr-defined]
        gradients.difference("jvp", gradients.joined(along), truth.jacobian @ tangent, scale, program.single),  # type: ignore[attr-defined]
    ]
    if [i.tobytes() for i in inputs] != before:
        found.append("an input was written to")
    return "; ".join(part for part in found if part), ""


def judge_apart(program: ValueProgram, reference: Reference, folder: Path) -> Verdict:
    """Judge a program in a process of its own."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        code = 1
        try:
            os.write(write, json.dumps(judge(program, reference, folder).__dict__).encode())
            code = 0
        finally:
            os._exit(code)
    os.close(write)
    text, end = b"", time.monotonic() + PATIENCE
    while select.select([read], [], [], max(0.0, end - time.monotonic()))[0]:
        more = os.read(read, 1 << 16)
        if not more:
            break
        text += more
    else:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(read)
        return Verdict(program.seed, "unfinished", f"ended after {PATIENCE:.0f} s", features=sorted(program.features))
    os.close(read)
    status = os.waitpid(child, 0)[1]
    if text:
        return Verdict(**json.loads(text))
    why = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"exit {os.WEXITSTATUS(status)}"
    return Verdict(program.seed, "died", why, features=sorted(program.features))


def child(seeds: list[int], language: str) -> None:
    """Judge programs, each in a process of its own, and print a line of JSON for each."""
    folder = Path(tempfile.mkdtemp(prefix="ffgrad-values-"))
    os.environ["FFGRAD_CACHE_DIR"] = str(folder / "cache")
    try:
        made = [LANGUAGES[language](seed) for seed in seeds]
        reference = Reference(made, folder)
        for program in made:
            print(json.dumps(judge_apart(program, reference, folder).__dict__), flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run_batch(seeds: range, language: str) -> list[Verdict]:
    """Judge the programs of these seeds in one process."""
    listed = ",".join(map(str, seeds))
    command = [sys.executable, str(HERE / "value_paths.py"), "--language", language, "--seeds", listed]
    out = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False).stdout
    return [Verdict(**json.loads(line)) for line in out.splitlines() if line.startswith("{")]


def run(
    first: int, count: int, jobs: int, batch: int = 20, log: Path | None = None, language: str = "c"
) -> list[Verdict]:
    """Judge ``count`` programs, ``batch`` of them with one reference."""
    verdicts: list[Verdict] = []
    batches = [range(s, min(s + batch, first + count)) for s in range(first, first + count, batch)]
    with ThreadPoolExecutor(jobs) as pool:
        for done in as_completed([pool.submit(run_batch, seeds, language) for seeds in batches]):
            verdicts += done.result()
            if log is not None:
                with log.open("a") as file:
                    file.writelines(json.dumps(v.__dict__) + "\n" for v in done.result())
            for v in done.result():
                if v.kind not in ("right", "recovered", "refused", "refused-second", "unusable"):
                    print(f"  {v.kind} {v.seed} {v.features}: {v.detail[:400]}", file=sys.stderr, flush=True)
    return verdicts


def report(verdicts: list[Verdict]) -> str:
    """Return the counts as text, and for each kind of part how many programs with it are not right."""
    kinds = collections.Counter(v.kind for v in verdicts)
    counts = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    lines = [
        f"programs whose path depends on values: {len(verdicts)}, {sum(v.points for v in verdicts)} points: {counts}"
    ]
    for part in sorted({part for v in verdicts for part in v.features}):
        of_part = collections.Counter(v.kind for v in verdicts if part in v.features)
        bad = ", ".join(
            f"{count} {kind}" for kind, count in sorted(of_part.items()) if kind not in ("right", "recovered")
        )
        if bad:
            lines.append(f"  {part}: {sum(of_part.values())}, of them {bad}")
    return "\n".join(lines)


def is_bad(verdict: Verdict) -> bool:
    """Whether a program must not end so."""
    return verdict.kind in ("wrong", "died", "unfinished", "changed", "failed")


def main() -> int:
    """Parse arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=100, help="how many programs")
    parser.add_argument("--language", choices=LANGUAGES, default="c", help="c: C and C++; fortran")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--log", type=Path, help="a file for one line of JSON per program")
    parser.add_argument("--seeds", help=argparse.SUPPRESS)
    parser.add_argument("--show", type=int, help="print the program of a seed")
    given = parser.parse_args()
    if given.show is not None:
        print(source_of(LANGUAGES[given.language](given.show)))
        return 0
    if given.seeds:
        child([int(s) for s in given.seeds.split(",")], given.language)
        return 0
    verdicts = run(given.first, given.count, given.jobs, log=given.log, language=given.language)
    print(report(verdicts))
    return int(any(is_bad(v) for v in verdicts))


if __name__ == "__main__":
    sys.exit(main())
