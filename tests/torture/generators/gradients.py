"""Compares value, vjp, jvp and hvp of generated programs with a reference, at points that ffgrad verified and at others.

    python tests/torture/generators/gradients.py --count 1000 --first 0 --jobs 2

The first calls of each size, at which ffgrad checks the gradient, are compared, and so are second points of two sizes, at which it
does not: there other branches are taken. A program counts as

- *right*: everything agrees, with the first pipeline;
- *recovered*: everything agrees, with a later pipeline: the first was refused or caught wrong;
- *refused*: a ``DifferentiationError``, for first or (named apart) only for second derivatives;
- *overflowed*: not-a-number or infinity where the reference is finite, and all else agrees: an intermediate result of a
  derivative went beyond the type's range, which a user sees;
- *warned*: something differs, and a ``GradientWarning`` had said so;
- *wrong*: something differs and nothing was said. Not one is acceptable.

Points where values overflow, where a comparison comes too near a tie, or where derivatives are so large that rounding
decides, are left out and counted.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from torture.generators import generator  # noqa: E402
from torture.generators.generator import Program  # noqa: E402
from torture.generators.hyperdual import Reference, Truth, sizes  # noqa: E402

# Relative to the largest number of the compared set.
TOLERANCE = {False: 1e-7, True: 2e-2}
TIE = {False: 1e-7, True: 1e-3}
LARGEST = {False: 1e5, True: 1e2}
SIZES = (6, 5, 9, 6, 5)
NOT_FINITE = "not finite"


@dataclass
class Verdict:
    """What became of one program."""

    seed: int
    kind: str
    detail: str = ""
    points: int = 0
    skipped: int = 0
    rejected: str = ""
    features: list[str] = field(default_factory=list)


def inputs_of(program: Program, point: np.ndarray, n: int) -> list[np.ndarray]:
    """Cut the numbers of a point into the program's arguments."""
    dtype = np.float32 if program.single else np.float64
    point = point.astype(dtype)
    if program.shape == "two_inputs":
        return [point[:n].copy(), point[n:].copy()]
    if program.shape == "scalar":
        return [point[:n].copy(), point[n:].reshape(()).copy()]
    return [point.copy()]


def joined(arrays: object) -> np.ndarray:
    """All numbers of some arrays in a row."""
    several = arrays if isinstance(arrays, tuple | list) else [arrays]
    return np.concatenate([np.asarray(a, dtype=np.float64).ravel() for a in several])


def outputs_of(program: Program, cotangent: np.ndarray, n: int) -> object:
    """Cut the numbers of a cotangent into the program's results."""
    dtype = np.float32 if program.single else np.float64
    cotangent = cotangent.astype(dtype)
    if program.shape == "several_outputs":
        return (cotangent[:n].copy(), cotangent[n:].copy())
    if program.shape == "number":
        return cotangent.reshape(()).copy()
    return cotangent.copy()


def difference(name: str, got: np.ndarray, truth: np.ndarray, scale: float, single: bool) -> str:
    """Describe how two sets of values differ; empty if they do not."""
    if not np.isfinite(got).all():
        return f"{name}: {NOT_FINITE}: {np.array2string(got, precision=6)} for {np.array2string(truth, precision=6)}"
    error = float(np.max(np.abs(got - truth), initial=0.0))
    size = max(float(np.max(np.abs(truth), initial=0.0)), scale, 1e-6)
    if error <= TOLERANCE[single] * size:
        return ""
    return f"{name}: off by {error:.3g} of {size:.3g}: {np.array2string(got, precision=6)} for {np.array2string(truth, precision=6)}"


def usable(truth: Truth, single: bool) -> bool:
    """Return whether a point is usable: finite, moderate, and not at a tie."""
    parts = [truth.value, truth.jacobian, truth.hessian_along]
    if not all(np.isfinite(p).all() and np.abs(p).max(initial=0.0) < LARGEST[single] for p in parts):
        return False
    return truth.nearest_tie > TIE[single]


def plain_differences(f: object, program: Program, point: np.ndarray, tangent: np.ndarray, n: int) -> np.ndarray:
    """Central differences of the compiled C program itself, along a tangent."""
    h = 1e-6
    sides = [joined(f(*inputs_of(program, point + s * h * tangent, n))) for s in (1, -1)]  # type: ignore[operator]
    return (sides[0] - sides[1]) / (2 * h)


def compare(
    f: object, program: Program, truth: Truth, point: np.ndarray, tangent: np.ndarray, n: int, rng: object
) -> tuple[str, str]:
    """Compare everything at one point; returns what differs and why second derivatives were refused."""
    import ffgrad

    single = program.single
    inputs, tangents = inputs_of(program, point, n), inputs_of(program, tangent, n)
    cotangent = rng.standard_normal(len(truth.value)).astype(np.float32).astype(np.float64)  # type: ignore[attr-defined]
    before = [i.tobytes() for i in inputs]
    value, pull = f.vjp(*inputs)  # type: ignore[attr-defined]
    gradient = joined(pull(outputs_of(program, cotangent, n)))
    _, along = f.jvp(tuple(inputs), tuple(tangents))  # type: ignore[attr-defined]
    expected = cotangent @ truth.jacobian
    scale = float(np.max(np.abs(truth.jacobian), initial=0.0))
    found = [
        difference("value", joined(value), truth.value, 1.0, single),
        difference("vjp", gradient, expected, scale, single),
        difference("jvp", joined(along), truth.jacobian @ tangent, scale, single),
    ]
    # The dot-product identity of both modes, without the reference.
    one, other = float(cotangent @ joined(along)), float(gradient @ tangent)
    size = float(np.abs(cotangent) @ np.abs(truth.jacobian) @ np.abs(tangent)) + 1e-6
    if np.isfinite(one - other) and abs(one - other) > TOLERANCE[single] * size:
        found.append(f"identity: {one} for {other}")
    if not single:
        plain = plain_differences(f, program, point, tangent, n)
        if (
            np.max(np.abs(plain - truth.jacobian @ tangent), initial=0.0) > 1e-3 * (scale + 1)
            and truth.nearest_tie > 1e-4
        ):
            found.append("the reference itself disagrees with finite differences")
    refused = ""
    try:
        _, curvature = second(f, inputs, tangents, outputs_of(program, cotangent, n))
        curvature_scale = float(np.max(np.abs(truth.hessian_along), initial=0.0)) + scale
        found.append(difference("hvp", curvature, cotangent @ truth.hessian_along, curvature_scale, single))
    except (ffgrad.DifferentiationError, ffgrad.OutOfMemoryError) as error:
        refused = str(error)
    if [i.tobytes() for i in inputs] != before:
        found.append("an input was written to")
    return "; ".join(f for f in found if f), refused


def second(
    f: object, inputs: list[np.ndarray], tangents: list[np.ndarray], cotangents: object
) -> tuple[None, np.ndarray]:
    """Return the Hessian of the weighed outputs times the tangents."""
    return None, joined(f.hvp(tuple(inputs), tuple(tangents), cotangents))  # type: ignore[attr-defined]


def rejected_pipelines(f: object) -> list[str]:
    """The pipelines that were rejected, of all derivatives of a function."""
    key = json.loads(f._native.manifest())["key"]  # type: ignore[attr-defined]
    roots = Path(os.environ["FFGRAD_CACHE_DIR"]).glob(f"v*/entries/{key}/choice-*.json")
    choices = [json.loads(path.read_text()) for path in roots]
    return [
        line.split(":")[0] + " -> " + choice["pipeline"] + ": " + line.split(":", 1)[1][:90]
        for choice in choices
        for line in choice["rejected"]
    ]


def judge(program: Program, reference: Reference, folder: Path, **options: object) -> Verdict:
    """Put one program through everything."""
    import ffgrad
    from ffgrad.numpy import enzyme

    verdict = Verdict(program.seed, "right", features=sorted(program.features))
    rng = np.random.default_rng(program.seed)
    points = []
    for n in SIZES:
        for _ in range(3):
            count = sizes(program, n)[0]
            # Single precision throughout, so that both precisions see the same numbers.
            point, tangent = (rng.standard_normal(count).astype(np.float32).astype(np.float64) for _ in range(2))
            truth = reference.at(program, point, tangent, n)
            if usable(truth, program.single):
                points.append((n, point, tangent, truth))
                break
            verdict.skipped += 1
    if not points:
        verdict.kind = "unusable"
        return verdict
    path = folder / f"{program.name}.c"
    path.write_text(generator.c_source(program))
    said: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            f = enzyme(path, program.name, program.signature, **options)  # type: ignore[arg-type]
            for n, point, tangent, truth in points:
                wrong, refused = compare(f, program, truth, point, tangent, n, rng)
                verdict.points += 1
                if refused:
                    verdict.kind, verdict.detail = "refused-second", refused
                if wrong:
                    visible = all(NOT_FINITE in part for part in wrong.split("; "))
                    verdict.kind, verdict.detail = "overflowed" if visible else "wrong", f"n={n}: {wrong}"
                    break
        except (ffgrad.DifferentiationError, ffgrad.OutOfMemoryError) as error:
            verdict.kind, verdict.detail = "refused", str(error)
        except ffgrad.Error as error:
            verdict.kind, verdict.detail = "failed", f"{type(error).__name__}: {error}"
        said = [str(w.message) for w in caught if issubclass(w.category, ffgrad.GradientWarning)]
    rejected = rejected_pipelines(f) if verdict.kind in ("right", "wrong", "overflowed") else []
    if verdict.kind == "wrong" and said:
        verdict.kind = "warned"
    if verdict.kind == "right" and rejected:
        verdict.kind = "recovered"
    verdict.rejected = "; ".join(rejected)
    if said:
        verdict.detail += f" [warning: {said[0][:160]}]"
    return verdict


def run_batch(seeds: list[int]) -> list[Verdict]:
    """Judge programs in this process, with a cache of its own."""
    folder = Path(tempfile.mkdtemp(prefix="ffgrad-torture-"))
    os.environ["FFGRAD_CACHE_DIR"] = str(folder / "cache")
    try:
        made = [generator.generate(seed) for seed in seeds]
        reference = Reference(made, folder)
        return [judge(program, reference, folder) for program in made]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def child(seeds: list[int]) -> None:
    """Judge programs and print a line of JSON for each."""
    for verdict in run_batch(seeds):
        print(json.dumps(verdict.__dict__), flush=True)


def spawn(seeds: list[int]) -> subprocess.Popen[str]:
    """Start a process for some seeds: one that dies takes no others with it."""
    command = [sys.executable, str(HERE / "gradients.py"), "--seeds", ",".join(map(str, seeds))]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run(first: int, count: int, jobs: int, batch: int = 20, log: Path | None = None) -> list[Verdict]:
    """Judge ``count`` programs in processes of ``batch`` each."""
    waiting = [list(range(s, min(s + batch, first + count))) for s in range(first, first + count, batch)]
    running: list[tuple[list[int], subprocess.Popen[str]]] = []
    verdicts: list[Verdict] = []
    while waiting or running:
        while waiting and len(running) < jobs:
            seeds = waiting.pop(0)
            running.append((seeds, spawn(seeds)))
        seeds, process = running.pop(0)
        out, err = process.communicate()
        done = [Verdict(**json.loads(line)) for line in out.splitlines() if line.startswith("{")]
        if process.returncode != 0:
            judged = {v.seed for v in done}
            lost = [s for s in seeds if s not in judged]
            if len(seeds) > 1:
                # One each, to see which it was.
                waiting = [[s] for s in lost] + waiting
            else:
                done = [Verdict(seeds[0], "died", f"exit {process.returncode}: {err[-400:]}")]
        verdicts += done
        if log is not None:
            with log.open("a") as file:
                file.writelines(json.dumps(v.__dict__) + "\n" for v in done)
        bad = [v for v in done if v.kind in ("wrong", "warned", "died", "failed")]
        for v in bad:
            print(f"  {v.kind} {v.seed}: {v.detail[:600]}", file=sys.stderr, flush=True)
    return verdicts


def report(verdicts: list[Verdict]) -> str:
    """Return the counts as text."""
    kinds = collections.Counter(v.kind for v in verdicts)
    order = [
        "right",
        "recovered",
        "refused",
        "refused-second",
        "overflowed",
        "warned",
        "wrong",
        "died",
        "failed",
        "unusable",
    ]
    counts = ", ".join(f"{kinds[k]} {k}" for k in order if kinds[k] or k == "wrong")
    points = sum(v.points for v in verdicts)
    return f"generated programs: {len(verdicts)}, {points} points: {counts}"


def main() -> int:
    """Parse arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=100, help="how many programs")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--log", type=Path, help="a file for one line of JSON per program")
    parser.add_argument("--seeds", help=argparse.SUPPRESS)
    parser.add_argument("--show", type=int, help="print the program of a seed")
    given = parser.parse_args()
    if given.show is not None:
        print(generator.c_source(generator.generate(given.show)))
        return 0
    if given.seeds:
        child([int(s) for s in given.seeds.split(",")])
        return 0
    verdicts = run(given.first, given.count, given.jobs, log=given.log)
    print(report(verdicts))
    return 1 if any(v.kind in ("wrong", "died", "failed") for v in verdicts) else 0


if __name__ == "__main__":
    sys.exit(main())
