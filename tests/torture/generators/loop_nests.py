"""Tests generated loop nests that access a few arrays with equal strides (forwards, backwards, with gaps) and write between.

    python tests/torture/generators/loop_nests.py --count 1000 --first 0 --jobs 2

Enzyme may use what it caches for one loop in another, so these programs read the same addresses in many loops. Those of seeds from
10,000,000 on also have loop-carried values, which iterations replace, divide or keep, branches and switches with several equal
cases, and early exits, from several loops at once too.
Both modes and central differences must agree, with the first pipeline and without ffgrad's verification. There are no comparisons
of floating-point numbers, so no kinks. Few programs of `generator.py` have such nests.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

SIGNATURE = "x[n], y[n] -> y[n]"
SIZES = (5, 6)
DEEPEST = 3
CARRIED = 10_000_000
PREAMBLE = """#include <math.h>
void f{seed}(const double *x, int n, double *y) {{
  double t[16], A[36], a = 0.7, b = 0.4;
  int k[6];
  for (int z = 0; z < 16; z++) t[z] = 0.2 * x[z % n];
  for (int z = 0; z < 36; z++) A[z] = 0.1 * x[z % n] * y[z / 6 % n];
  for (int z = 0; z < 6; z++) k[z] = (z * {step} + 1) % 5;
"""


LEVEL = "static double level(double u) { return log(1.1 + u * u); }\n"


class Writer:
    """Writes one program."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.counters: list[str] = []
        self.made = 0

    def counter(self) -> str:
        """One of the loops around, the inner ones more often."""
        return self.counters[-1] if self.random.random() < 0.5 else self.random.choice(self.counters)

    def place(self) -> str:
        """An index that is in bounds for every size and every iteration."""
        i, j = self.counter(), self.counter()
        return self.random.choice(
            [f"y[{i}]", f"y[{i}]", "y[0]", f"y[n - 1 - {i}]", f"y[k[{i}]]", f"t[{i}]", f"t[{i} + {j}]", f"t[2 * {i}]",
             f"t[{i} + 1]", f"A[{i} * 6 + {j}]", f"A[{j} * 6 + {i}]", f"A[{i} * n + {j}]", f"A[{i} * 6 + {i}]"]
        )  # fmt: skip

    def read(self) -> str:
        """Return an operand: an element or a scalar."""
        return self.random.choice([self.place, self.place, lambda: f"x[{self.counter()}]", lambda: "a", lambda: "b"])()

    def term(self) -> str:
        """Return an expression of a few operands, whose value is never large."""
        one, two, three = self.read(), self.read(), self.read()
        return self.random.choice(
            [f"sin({one} * {two})", f"tanh({one} * {two} + {three})", f"{one} * {two} * 0.5", f"cos({one}) * {two}",
             f"sin({one} * {two} * {three})", f"{one}"]
        )  # fmt: skip

    def statement(self) -> str:
        """Return a statement that changes an element or a scalar."""
        kind = self.random.randrange(6)
        place = self.place()
        if kind == 0:
            return f"a = tanh(a + {self.term()});"
        if kind == 1:
            return f"b = 0.9 * b + 0.1 * {self.term()};"
        if kind == 2:
            return f"b = sin(b * {self.read()} + {self.read()});"
        return (
            f"{place} = "
            + [f"0.8 * {place} + 0.2 * {self.term()};", f"tanh({self.term()});", f"sin({place} + a);"][kind - 3]
        )

    def head(self, name: str) -> str:
        """A loop whose counter stays in 0 … n - 1."""
        start, step = self.random.choice([0, 0, 0, 1]), self.random.choice([1, 1, 1, 2, 3])
        if self.random.random() < 0.2:
            return f"for (int {name} = n - 1; {name} >= {start}; {name} -= {step}) {{"
        return f"for (int {name} = {start}; {name} < {self.random.choice(['n', 'n', 'n', 'n - 1', '5'])}; {name} += {step}) {{"

    def loop(self, depth: int) -> None:
        """A loop with statements and loops in it."""
        self.made += 1
        name, indent = f"i{self.made}", "  " * depth
        self.lines.append(indent + self.head(name))
        self.counters.append(name)
        if self.random.random() < 0.15:
            self.lines.append(f"{indent}  if ({name} % 3 == {self.random.randrange(3)}) continue;")
        for _ in range(self.random.randint(1, 3)):
            if depth < DEEPEST and self.made < 7 and self.random.random() < 0.5:
                self.loop(depth + 1)
            else:
                self.lines.append(f"{indent}  {self.statement()}")
            if self.random.random() < 0.08:
                self.lines.append(f"{indent}  if ({name} > {self.random.randrange(1, 5)}) break;")
        self.counters.pop()
        self.lines.append(indent + "}")


class Carrier(Writer):
    """Writes programs with loop-carried values and many paths."""

    carried = ("c", "d", "e")

    def read(self) -> str:
        """Return an operand, often a loop-carried value."""
        one = self.random.choice(self.carried)
        return self.random.choice([super().read, super().read, lambda: one, lambda: f"level({one})"])()

    def condition(self) -> str:
        """A condition on counters."""
        i, j, k = self.counter(), self.counter(), self.random.randrange(5)
        return self.random.choice(
            [f"{i} % 3 == {k % 3}", f"{i} + {j} > {k + 1}", f"{i} == {k % 2}", f"{j} < {k}", f"n % 4 == {k % 4}"]
        )

    def change(self) -> str:
        """Return a statement that changes a loop-carried value, or one of the base class."""
        one, two = self.random.sample(self.carried, 2)
        return self.random.choice(
            [f"{one} = {self.condition()} ? {self.term()} : {one};", f"{one} = {one} / 1.7;", f"{one} = {one} * 0.8;",
             f"if ({self.condition()}) {one} = {self.term()};", f"{one} = {two}; {two} = {self.term()};",
             f"{one} = {self.condition()} ? level({self.place()}) : level({self.place()});", f"{one} = tanh({one} + {self.term()});",
             f"y[{self.counter()}] += 0.1 * {one};", super().statement()]
        )  # fmt: skip

    def statement(self) -> str:
        """A change, a branch, a switch, or a loop exit."""
        kind = self.random.random()
        if kind < 0.1:
            return f"if ({self.condition()}) {{ {self.change()} }} else {{ {self.change()} }}"
        if kind < 0.2:
            breaks = [self.random.choice(["break;", ""]) for _ in range(3)]
            cases = " ".join(f"case {i}: {self.change()} {end}" for i, end in enumerate(breaks))
            return f"switch ({self.random.choice([self.counter(), 'n'])} % {self.random.randint(3, 5)}) {{ {cases} default: {self.change()} }}"
        if kind < 0.25:
            return f"if ({self.condition()}) {self.random.choice(['break', 'continue', 'goto out'])};"
        return self.change()


def source(seed: int) -> str:
    """Return the program of a seed."""
    if seed >= CARRIED:
        return carrying(seed)
    writer = Writer(seed)
    for _ in range(writer.random.randint(2, 3)):
        writer.loop(1)
    end = "  for (int z = 0; z < n; z++) y[z] += a * t[z] + b * A[z];\n}\n"
    return PREAMBLE.format(seed=seed, step=writer.random.choice([1, 2, 3])) + "\n".join(writer.lines) + "\n" + end


def carrying(seed: int) -> str:
    """Return a program with numbers that loops carry."""
    writer = Carrier(seed)
    for _ in range(writer.random.randint(1, 3)):
        writer.loop(1)
    start = PREAMBLE.format(seed=seed, step=writer.random.choice([1, 2, 3]))
    if writer.random.random() < 0.5:
        start = start.replace("t[16],", "*t = malloc(16 * sizeof(double)),")
    start = start.replace("#include <math.h>\n", "#include <math.h>\n#include <stdlib.h>\n" + LEVEL)
    start += "  double c = x[0], d = x[1] * y[0], e = 0.5;\n"
    end = "  out:\n  for (int z = 0; z < n; z++) y[z] += a * t[z] + b * A[z] + c * x[z] + d + e * e;\n"
    return start + "\n".join(writer.lines) + "\n" + end + ("  free(t);\n}\n" if "malloc" in start else "}\n")


def judge(seed: int, folder: Path, **options: object) -> str:
    """Say what is wrong with a program's derivatives, or nothing."""
    import ffgrad
    from ffgrad.numpy import enzyme

    path = folder / f"f{seed}.c"
    path.write_text(source(seed))
    try:
        f = enzyme(path, f"f{seed}", SIGNATURE, **{"pipeline": "inlined", "verify": "off", **options})  # type: ignore[arg-type]
        problems = [compare(f, n, point) for n in SIZES for point in range(2)]
    except ffgrad.DifferentiationError as error:
        return f"refused: {str(error).splitlines()[0]}"
    return next((p for p in problems if p), "")


def compare(f: object, n: int, point: int) -> str:
    """Compare both modes and differences at one point."""
    rng = np.random.default_rng(point)
    (x, y), (s, t), v = rng.uniform(-1, 1, (2, n)), rng.uniform(-1, 1, (2, n)), rng.uniform(-1, 1, n)
    _, pull = f.vjp(x, y)  # type: ignore[attr-defined]
    gradients = [np.asarray(g) for g in pull(v)]
    reverse = float(gradients[0] @ s + gradients[1] @ t)
    forward = float(v @ np.asarray(f.jvp((x, y), (s, t))[1]))  # type: ignore[attr-defined]
    scale = float(sum(np.abs(g).sum() for g in gradients)) + 1e-3
    h = 1e-5
    sides = [float(v @ np.asarray(f(x + q * h * s, y + q * h * t))) for q in (1, -1)]  # type: ignore[operator]
    differences = (sides[0] - sides[1]) / (2 * h)
    if not abs(forward - reverse) <= 1e-10 * scale:
        return f"n={n}: wrong: forward {forward!r}, reverse {reverse!r}, differences {differences!r}"
    if not abs(forward - differences) <= 1e-4 * scale:
        return f"n={n}: wrong: both modes {forward!r}, differences {differences!r}"
    return ""


def run(first: int, count: int, jobs: int = 1) -> dict[int, str]:
    """What is wrong, by seed. A process that dies is reported with the seed that it was at."""
    waiting = [range(s, min(s + 25, first + count)) for s in range(first, first + count, 25)]
    found: dict[int, str] = {}
    running: list[tuple[range, subprocess.Popen[str]]] = []
    while waiting or running:
        while waiting and len(running) < jobs:
            seeds = waiting.pop(0)
            command = [sys.executable, __file__, "--seeds", f"{seeds.start}:{seeds.stop}"]
            running.append((seeds, subprocess.Popen(command, stdout=subprocess.PIPE, text=True)))
        seeds, process = running.pop(0)
        lines = process.communicate()[0].splitlines()
        done = [int(line.split(" ", 1)[0]) for line in lines]
        found |= {int(line.split(" ", 1)[0]): line.split(" ", 1)[1] for line in lines if line.split(" ", 1)[1]}
        if process.returncode:
            died = next(s for s in seeds if s not in done)
            found[died] = f"died: exit {process.returncode}"
            if died + 1 < seeds.stop:
                waiting.insert(0, range(died + 1, seeds.stop))
    return found


def child(seeds: range) -> None:
    """Judge programs in this process, with a cache of its own, and print a line for each."""
    folder = Path(tempfile.mkdtemp(prefix="ffgrad-nests-"))
    os.environ["FFGRAD_CACHE_DIR"] = str(folder / "cache")
    try:
        for seed in seeds:
            print(seed, judge(seed, folder), flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def report(count: int, found: dict[int, str]) -> str:
    """Say in one line what became of the programs."""
    refused = sum(what.startswith("refused") for what in found.values())
    return (
        f"{count} nests of loops: {count - len(found)} right, {refused} refused, {len(found) - refused} wrong or dead"
    )


def main() -> int:
    """Parse arguments, run, and print what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seeds", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.seeds:
        child(range(*map(int, given.seeds.split(":"))))
        return 0
    found = run(given.first, given.count, given.jobs)
    for seed, what in sorted(found.items()):
        print(f"{seed}: {what}")
    print(report(given.count, found))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
