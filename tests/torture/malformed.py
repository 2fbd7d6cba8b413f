"""Malformed inputs of every kind: each is a typed error within its time-out, or not malformed after all; the process lives.

Sources are generated programs that were damaged (characters and tokens removed, doubled or replaced, cut short, in odd encodings) and
pathological ones; signatures are random words of the language's alphabet; calls have wrong shapes, types and values. Nothing that was
generated from a damaged source is run: what it does is its author's business.
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
sys.path.insert(0, str(HERE))

import generator  # noqa: E402
from races import CUBE  # noqa: E402

TIMEOUT = 10
# A build has a front end and perhaps a second one, with everything emitted, and a worker; then the machine may be busy.
LONGEST = 6 * TIMEOUT


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


# --- damaged sources --------------------------------------------------------------------------------------


def damaged(rng: random.Random) -> tuple[str, bytes, str]:
    """Return a file name, what stands in it, and the function to ask for."""
    program = generator.generate(rng.randrange(10**6))
    text = generator.c_source(program)
    name, function = "m.c", program.name
    kind = rng.randrange(12)
    if kind == 0:
        place = rng.randrange(len(text))
        text = text[:place]
    elif kind == 1:
        for _ in range(rng.randint(1, 5)):
            place = rng.randrange(len(text))
            text = text[:place] + text[place + rng.randint(1, 9) :]
    elif kind == 2:
        for _ in range(rng.randint(1, 5)):
            place = rng.randrange(len(text))
            text = text[:place] + rng.choice("{}()[];,*&<>\"'\\#@$`\0\x7f\u00e9\u4e2d") + text[place:]
    elif kind == 3:
        words = text.split(" ")
        rng.shuffle(words)
        text = " ".join(words)
    elif kind == 4:
        text = text.replace(
            rng.choice(["real", "int", "void", "const", "for", "return"]), rng.choice(["", "struct", "x y"])
        )
    elif kind == 5:
        return name, text.encode(rng.choice(["utf-16", "utf-32", "utf-8-sig", "utf-7"])), function
    elif kind == 6:
        return name, rng.randbytes(rng.randint(0, 4000)), function
    elif kind == 7:
        function = rng.choice(
            ["", " ", "p", "p" * 5000, "a b", "ns::f<double>", "f(", "\n", "\u4e2d", "main", "-o", "sin"]
        )
    elif kind == 8:
        name = rng.choice(["m.txt", "m", "m.C", "m.cpp", "m.f90", "m.cu", "m.h", ".c", "m.c.gz"])
    elif kind == 9:
        return name, pathological(rng).encode(), "f"
    elif kind == 10:
        return "m.cpp", deep_template(rng).encode(), rng.choice(["f", "g<double>", "g"])
    else:
        lines = text.splitlines()
        text = "\r".join(lines) if rng.random() < 0.5 else "\\\n".join(lines)
    return name, text.encode("utf-8", "surrogatepass"), function


def pathological(rng: random.Random) -> str:
    """Return a C text that strains a compiler."""
    depth = rng.choice([50, 500, 5000])
    return rng.choice(
        [
            "double f(double x) { return " + "(" * depth + "x" + ")" * depth + "; }\n",
            "double f(double x) { " + "{" * depth + "}" * depth + " return x; }\n",
            '#include "m.c"\n',
            "#define A B B\n#define B C C\n#define C D D\n#define D E E\n#define E x + x\n" * 3
            + "double f(double x) { return A; }\n",
            "#error no\n",
            "double f(double x) { double a[1 << 30][1 << 10]; return a[0][0] + x; }\n",
            "double f(double x, ...) { return x; }\n",
            "double f(struct unknown *p) { return 0; }\n",
            "typedef double T; T (*f(T (*g)(T)))(T) { return g; }\n",
            "double f(" + ", ".join(f"double a{i}" for i in range(300)) + ") { return a0; }\n",
            "double f(double x) { return x;\n" + "/*" * depth,
            '__asm__("not an instruction"); double f(double x) { return x; }\n',
            "double f(double x) { while (1) ; return x; }\n",
            "extern double f(double x);\n",
            "_Complex double f(_Complex double x) { return x; }\n",
            "__int128 f(__int128 x) { return x; }\n",
            "long double f(long double x) { return x; }\n",
        ]
    )


def deep_template(rng: random.Random) -> str:
    """Return a C++ text whose templates are deep or never end."""
    depth = rng.choice([10, 200, 2000, 100000])
    return rng.choice(
        [
            f"template <int N> struct S {{ static double v(double x) {{ return S<N - 1>::v(x) + x; }} }};\n"
            f"template <> struct S<0> {{ static double v(double x) {{ return x; }} }};\ndouble f(double x) {{ return S<{depth}>::v(x); }}\n",
            "template <class T> struct R { R<T*> next; };\nR<int> r; double f(double x) { return x; }\n",
            f"template <class T> T g(T x) {{ return x; }}\nconstexpr int h(int n) {{ return n ? h(n - 1) + 1 : 0; }}\n"
            f"double f(double x) {{ return x * h({depth}); }}\n",
            "template <class T> auto g(T x) -> decltype(g(g(x)));\ndouble f(double x) { return g(x); }\n",
        ]
    )


# --- signatures and calls ------------------------------------------------------------------------------------

WORDS = [
    "x",
    "y",
    "n",
    "return",
    "const",
    "work",
    "[",
    "]",
    "(",
    ")",
    ",",
    "->",
    ";",
    "...",
    "+",
    "-",
    "*",
    "//",
    "/",
    "1",
    "0",
    "-1",
]
WORDS += [
    "9" * 30,
    "x[n]",
    "y[n]",
    "é",
    "\0",
    "\n",
    " ",
    "x" * 3000,
    "[" * 200,
    "(" * 2000,
    "0x10",
    "1e3",
    "%s",
    "n//0",
]


def signature(rng: random.Random) -> str:
    """Return words of the signature language in a random order, or a nearly right one."""
    if rng.random() < 0.4:
        right = "x[n] -> y[n]"
        place = rng.randrange(len(right))
        return right[:place] + rng.choice(WORDS) + right[place + rng.randint(0, 3) :]
    return rng.choice(["", " "]).join(rng.choice(WORDS) for _ in range(rng.randint(0, 12)))


def arguments(rng: random.Random) -> tuple[Any, ...]:
    """Return arguments that mostly do not fit ``x[n]``."""
    import numpy as np

    def one() -> Any:
        return rng.choice(
            [
                lambda: np.zeros(
                    3, dtype=rng.choice(["f4", "i8", "u1", "c16", "f2", "?", "O", "U3", "M8[s]", "V8", ">f8"])
                ),
                lambda: np.zeros(tuple(rng.randint(0, 3) for _ in range(rng.randint(0, 5)))),
                lambda: np.broadcast_to(np.float64(1.0), (1 << 40,)),
                lambda: np.zeros(4)[:: rng.choice([2, -1])],
                lambda: np.array([np.nan, np.inf, 1.0]),
                lambda: None,
                lambda: "x",
                lambda: 1.5,
                lambda: 10**40,
                lambda: [1.0, 2.0],
                lambda: object(),
                lambda: np.frombuffer(b"12345678abc", dtype="u1")[1:9].view("f8"),
            ]
        )()

    return tuple(one() for _ in range(rng.choice([0, 1, 1, 1, 1, 2, 5])))


# --- the process that tries them ------------------------------------------------------------------------------


def try_one(kind: str, seed: int, folder: Path, cube: Any) -> None:
    """Try one malformed input; typed errors come out as they are."""
    from ffgrad.numpy import enzyme

    rng = random.Random(seed)
    if kind == "source":
        name, content, function = damaged(rng)
        (folder / name).write_bytes(content)
        enzyme(folder / name, function, timeout=TIMEOUT)
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
                told = "must be a tensor or a number" in str(error)
                outcome = "TypeError" if told else f"untyped TypeError: {error}"[:300]
            except Exception as error:  # noqa: BLE001  # this is what is looked for
                outcome = f"untyped {type(error).__name__}: {error}"[:300]
            print(json.dumps({"seed": seed, "outcome": outcome, "seconds": time.monotonic() - begin}), flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run(count: int, first: int = 0, batch: int = 50) -> Malformed:
    """Try ``count`` inputs: a third of each kind."""
    result = Malformed()
    for kind in ("source", "signature", "call"):
        seeds = list(range(first, first + count // 3))
        for begin in range(0, len(seeds), batch):
            run_batch(result, kind, seeds[begin : begin + batch])
    return result


def run_batch(result: Malformed, kind: str, seeds: list[int]) -> None:
    """Try some inputs in one process; where that dies, the rest in another."""
    command = [sys.executable, str(HERE / "malformed.py"), "--child", kind, "--seeds", ",".join(map(str, seeds))]
    done = subprocess.run(command, capture_output=True, text=True)
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
    return f"malformed inputs: {m.tried}: {classes}; {len(m.problems)} untyped, dead or late"


def main() -> int:
    """Parse arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--child", choices=["source", "signature", "call"], help=argparse.SUPPRESS)
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
