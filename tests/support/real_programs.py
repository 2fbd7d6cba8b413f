"""The programs of ``tests/real``: ``programs.toml`` in, :class:`Program` out, with inputs and the comparison of derivatives.

``tests/real/test_real.py`` and ``scripts/real_table.py`` use this module, and neither reads the TOML itself. Each program runs in a
process of its own (``python -m support.real_programs NAME`` prints its :class:`Outcome` as JSON), so that one that hangs or takes the
interpreter with it is one program's failure, and so that two can run at a time.

Keys of a ``[library.KEY]`` table
---------------------------------
name
    As people write it.
package, header
    Debian's package, and a header of it below ``usr/include``: without that file the programs cannot run.
include_dirs, libraries
    Folders below ``usr/include``, and names as ``enzyme(...)`` takes them, for all programs of the library.

Keys of a ``[[program]]`` table
-------------------------------
name, library, function, about
    Required; ``library`` names a table above.
source
    In ``tests/real/programs``; the name with ``.cpp`` where omitted.
signature, flags
    As ``enzyme(...)`` takes them.
inputs
    In the order of the call. ``shape`` (``[]`` is a scalar) with ``range`` (-1 to 1), and ``other``, the range at the last point, which takes
    another path; ``sorted``; ``kind``: ``"spd"`` (a symmetric positive definite matrix) or ``"grid"`` (equal steps over the range). Or ``value``.
timeout
    As ``enzyme(...)`` takes it, for what would be refused after minutes.
expected
    ``"right"`` (the default), or ``"refused"``, with ``reason`` for people and the error's ``code`` (any, where omitted).
limit
    Seconds of CPU time that the whole may take, compilers included; 120, or 10 where it is refused. There is room for
    slower and busy machines: it ends what grows without bound. How long programs take is measured by ``scripts/real_table.py``.
tolerance
    Of gradients against differences, relative; 1e-6 where omitted.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
import warnings
import zlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOLDER = Path(__file__).resolve().parents[1] / "real"
# The folder with the libraries' ``usr``: the machine's own, or what ``scripts/real.sh`` has unpacked.
ROOT = Path(os.environ.get("FFGRAD_REAL_ROOT", "/"))
POINTS = 3
# Seconds of waiting for a program; its CPU time has limits of its own.
PATIENCE = 900

Inputs = tuple[Any, ...]


@dataclass(frozen=True)
class Library:
    """A library, and how programs of it are compiled."""

    name: str
    package: str = ""
    header: str = ""
    include_dirs: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()

    def options(self) -> dict[str, list[str]]:
        """Return how programs of the library are compiled and linked."""
        include = ROOT / "usr/include"
        include_dirs = [str(include / folder) for folder in self.include_dirs]
        flags: list[str] = []
        if self.package and ROOT != Path("/"):
            include_dirs.append(str(include))
            flags = [f"-L{folder}" for folder in sorted((ROOT / "usr/lib").glob("*-linux-gnu"))]
        return {"flags": flags, "include_dirs": include_dirs, "libraries": list(self.libraries)}

    def missing(self) -> str | None:
        """Say what is not installed."""
        if not self.header or (ROOT / "usr/include" / self.header).exists():
            return None
        return f"{self.name} is not installed: there is no {self.header} (Debian: {self.package})"


@dataclass(frozen=True)
class Program:
    """One function that uses a library; see the module's documentation for the fields."""

    name: str
    library: Library
    function: str
    about: str
    inputs: tuple[dict[str, Any], ...]
    source: str = ""
    signature: str | None = None
    flags: tuple[str, ...] = ()
    expected: str = "right"
    reason: str | None = None
    code: str | None = None
    limit: float | None = None
    timeout: int | None = None
    tolerance: float = 1e-6

    @property
    def cpu_limit(self) -> float:
        """Seconds of CPU time that opening it and its derivatives at all points may take."""
        return self.limit or (10.0 if self.expected == "refused" else 120.0)

    @property
    def path(self) -> Path:
        """The source."""
        return FOLDER / "programs" / (self.source or f"{self.name}.cpp")

    def open(self, **options: Any) -> Any:
        """Return the function as an operation on NumPy arrays."""
        from ffgrad.numpy import enzyme

        given: dict[str, Any] = dict(self.library.options())
        given["flags"] = [*self.flags, *given["flags"]]
        if self.timeout:
            given["timeout"] = self.timeout
        return enzyme(str(self.path), self.function, self.signature, **{**given, **options})

    def points(self) -> Iterator[Inputs]:
        """Yield the inputs of each point; the last takes another path where the table says so."""
        for point in range(POINTS):
            rng = np.random.default_rng([zlib.crc32(self.name.encode()), point])
            yield tuple(_drawn(given, rng, point + 1 == POINTS) for given in self.inputs)


def _drawn(given: dict[str, Any], rng: np.random.Generator, last: bool) -> Any:
    if "value" in given:
        value = given["value"]
        return value if isinstance(value, int) else np.array(value, float)
    shape = tuple(given["shape"])
    low, high = (last and given.get("other")) or given.get("range", (-1.0, 1.0))
    if given.get("kind") == "grid":
        return np.linspace(low, high, shape[0])
    x = rng.uniform(low, high, shape)
    if given.get("kind") == "spd":
        return x @ x.T + np.eye(shape[0])
    if given.get("sorted"):
        x = np.sort(x)
    return np.asarray(x)


def load_programs() -> list[Program]:
    """Return every program of the table."""
    table = tomllib.loads((FOLDER / "programs.toml").read_text())
    libraries = {
        key: Library(**{k: tuple(v) if isinstance(v, list) else v for k, v in row.items()})
        for key, row in table["library"].items()
    }
    programs = []
    for row in table["program"]:
        row = {k: tuple(v) if isinstance(v, list) else v for k, v in row.items()}
        programs.append(Program(**{**row, "library": libraries[row["library"]]}))
    assert len({p.name for p in programs}) == len(programs)
    assert all(p.reason for p in programs if p.expected == "refused")
    return programs


@dataclass
class Errors:
    """How far apart derivatives are, each relative to what it may be.

    Attributes
    ----------
    differences : float
        The vector-Jacobian product against central differences, relative to the largest part for the same input.
    identity : float
        The two sides of ⟨w, J v⟩ = ⟨Jᵀ w, v⟩, relative to the sum of their terms' absolute values.
    parts : list of str
        Where differences disagree most.
    """

    differences: float = 0.0
    identity: float = 0.0
    parts: list[str] = field(default_factory=list)


def compare(op: Any, inputs: Inputs, seed: int) -> Errors:
    """Compare vjp, jvp and central differences at a point."""
    rng = np.random.default_rng([seed, 7])
    value, pull = op.vjp(*inputs)
    weights = [rng.uniform(0.5, 1.5, np.shape(y)) for y in _listed(value)]
    gradients = pull(tuple(weights) if isinstance(value, tuple) else weights[0])
    # Inputs whose derivative is not asked for have no tangent either.
    active = [i for i, g in enumerate(gradients) if g is not None and isinstance(inputs[i], np.ndarray)]
    tangents = tuple(rng.uniform(-1.0, 1.0, np.shape(x)) if i in active else None for i, x in enumerate(inputs))
    _, along = op.jvp(inputs, tangents)
    left = [np.asarray(w * t) for w, t in zip(weights, _listed(along), strict=True)]
    right = [np.asarray(gradients[i] * tangents[i]) for i in active]
    terms = sum(float(np.abs(part).sum()) for part in (*left, *right))
    errors = Errors()
    gap = abs(sum(float(p.sum()) for p in left) - sum(float(p.sum()) for p in right))
    errors.identity = _ratio(gap, terms)

    def weighed(*changed: Any) -> float:
        return sum(float(np.sum(w * y)) for w, y in zip(weights, _listed(op(*changed)), strict=True))

    size = sum(float(np.abs(w * y).sum()) for w, y in zip(weights, _listed(value), strict=True))
    largest = max((float(np.max(np.abs(gradients[i]), initial=0.0)) for i in active), default=0.0)
    for i in active:
        found = np.asarray(gradients[i], float)
        # An input on which nothing depends is compared on the scale of the others.
        scale = max(float(np.max(np.abs(found), initial=0.0)), 1e-3 * largest, 1e-9 * size)
        for at in np.ndindex(found.shape):
            gap, expected = _nearest(weighed, inputs, i, at, float(found[at]))
            error = _ratio(gap, scale)
            if not error <= errors.differences:
                errors.differences = error
                errors.parts = [f"input {i}{list(at)}: {float(found[at])!r}, by differences {expected!r}"]
    return errors


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, tuple) else [value]


def _ratio(gap: float, scale: float) -> float:
    if not np.isfinite(gap):
        return float("inf")
    return gap / scale if scale else (0.0 if gap == 0 else float("inf"))


def _nearest(
    function: Callable[..., float], inputs: Inputs, i: int, at: tuple[int, ...], found: float
) -> tuple[float, float]:
    """Return the gap to the nearest of three differences of fourth order, and that difference.

    Truncation dominates at the longest step and rounding at the shortest; a wrong derivative is far from all.
    """
    best = (float("inf"), float("nan"))
    for step in (2e-3, 2e-4, 2e-5):
        values = []
        for factor in (-2, -1, 1, 2):
            x = np.array(inputs[i], float)
            x[at] += factor * step
            values.append(function(*inputs[:i], x, *inputs[i + 1 :]))
        slope = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * step)
        gap = abs(slope - found)
        if gap < best[0] or not np.isfinite(best[0]):
            best = (gap, slope)
        if gap <= 1e-8 * abs(found):
            break
    return best


@dataclass
class Outcome:
    """What became of a program.

    Attributes
    ----------
    verdict : str
        ``"derivatives"``, ``"refused"``, ``"broken"`` (an exception that is no ``ffgrad.Error``, a crash) or ``"late"``.
    errors : list of Errors
        At each point.
    first : float
        Seconds from opening the function to its first gradient, in an empty cache if the caller gave one.
    first_cpu : float
        Seconds of CPU time to the first gradient, compilers included; importing the package is not.
    memory : float
        Gigabytes that the largest process of the first gradient had.
    cpu : float
        Seconds of CPU time of the whole, compilers included.
    ratio : float
        Time of a pullback over that of a call, both from Python; 0 where not asked for.
    code, message, hints
        Of the error.
    warnings : list of str
        What was warned of.
    """

    verdict: str = "derivatives"
    errors: list[Errors] = field(default_factory=list)
    first: float = 0.0
    first_cpu: float = 0.0
    memory: float = 0.0
    cpu: float = 0.0
    ratio: float = 0.0
    code: str = ""
    message: str = ""
    hints: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def outcome_of(program: Program, env: dict[str, str] | None = None, timed: bool = False) -> Outcome:
    """Run a program in a process of its own, and return what became of it."""
    command = [sys.executable, "-m", "support.real_programs", program.name, *(["--timed"] if timed else [])]
    # Two of them, and what else a small machine runs, share its memory.
    whole = {"FFGRAD_MEMORY_LIMIT": "6G", **os.environ, **(env or {})}
    if ROOT != Path("/"):
        # For what the libraries need themselves: unpacked ones are not where the loader looks.
        folders = sorted(str(folder) for part in ("usr/lib", "lib") for folder in (ROOT / part).glob("*-linux-gnu"))
        whole["LD_LIBRARY_PATH"] = os.pathsep.join([*folders, *filter(None, [whole.get("LD_LIBRARY_PATH")])])
    whole["PYTHONPATH"] = os.pathsep.join([str(FOLDER.parent), *filter(None, [whole.get("PYTHONPATH")])])
    pipe = subprocess.PIPE
    child = subprocess.Popen(command, env=whole, stdout=pipe, stderr=pipe, text=True, start_new_session=True)
    try:
        out, err = child.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        # Its compilers too: the group is the child's own.
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        return Outcome("late", message=f"not done after {PATIENCE} s", cpu=float(PATIENCE))
    if child.returncode != 0:
        return Outcome("broken", message=f"ended with {child.returncode}: {err.strip()[-2000:]}")
    found = json.loads(out.splitlines()[-1])
    return Outcome(**{**found, "errors": [Errors(**e) for e in found["errors"]]})


def run(program: Program, timed: bool) -> Outcome:
    """Open a program and compare its derivatives at all points."""
    import ffgrad
    import ffgrad.numpy

    outcome = Outcome()
    start, start_cpu = time.perf_counter(), _cpu_seconds()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            op = program.open()
            for point, inputs in enumerate(program.points()):
                value, pull = op.vjp(*inputs)
                pull(_ones(value))
                if point == 0:
                    outcome.first, outcome.first_cpu = time.perf_counter() - start, _cpu_seconds() - start_cpu
                    outcome.memory = _largest_process()
                outcome.errors.append(compare(op, inputs, point))
                if timed and point == 0:
                    outcome.ratio = _seconds(lambda pull=pull, v=value: pull(_ones(v))) / _seconds(
                        lambda given=inputs: op(*given)
                    )
        except ffgrad.Error as error:
            outcome.verdict, outcome.code, outcome.message = "refused", str(error.code), str(error)
            outcome.hints = list(error.hints or [])
        outcome.warnings = [str(w.message).splitlines()[0] for w in warned]
    outcome.cpu = _cpu_seconds()
    return outcome


def _cpu_seconds() -> float:
    """Return the CPU time of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def _largest_process() -> float:
    """Return the gigabytes of the largest of this process and its children."""
    used = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    # In kilobytes; on macOS in bytes.
    return used / (1e9 if sys.platform == "darwin" else 1e6)


def _ones(value: Any) -> Any:
    ones = tuple(np.ones(np.shape(y)) for y in _listed(value))
    return ones if isinstance(value, tuple) else ones[0]


def _seconds(call: Callable[[], Any]) -> float:
    """Return the seconds of a call: the least of several rounds of 20 ms."""
    count = 1
    while True:
        start = time.perf_counter()
        for _ in range(count):
            call()
        if (spent := time.perf_counter() - start) >= 0.02:
            break
        count *= 2
    rounds = [spent]
    for _ in range(6):
        start = time.perf_counter()
        for _ in range(count):
            call()
        rounds.append(time.perf_counter() - start)
    return min(rounds) / count


def main() -> None:
    """Print the outcome of the program that the command line names."""
    name, *rest = sys.argv[1:]
    (program,) = (p for p in load_programs() if p.name == name)
    print(json.dumps(asdict(run(program, "--timed" in rest))))


if __name__ == "__main__":
    main()
