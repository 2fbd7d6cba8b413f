"""Reduces a generated program whose gradient is wrong, so that it can become a case of the conformance table.

    python tests/torture/generators/reduce.py 4711

Statements and blocks are taken out, and expressions replaced by their parts, as long as the program still counts as it did. The
result is printed.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from torture.generators import generator, gradients  # noqa: E402
from torture.generators.generator import Program  # noqa: E402
from torture.generators.hyperdual import Reference  # noqa: E402


def verdict_of(program: Program, **options: object) -> str:
    """Return how the program counts and what differs, ``wrong hvp`` for instance."""
    folder = Path(tempfile.mkdtemp(prefix="ffgrad-reduce-"))
    os.environ["FFGRAD_CACHE_DIR"] = str(folder / "cache")
    try:
        verdict = gradients.judge(program, Reference([program], folder), folder, **options)
        what = re.search(r"(value|vjp|jvp|hvp|identity|input|reference)", verdict.detail)
        return f"{verdict.kind} {what[1] if what else ''}"
    except Exception as error:  # noqa: BLE001  # a candidate that does not compile is no candidate
        return f"invalid {type(error).__name__}"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def without_block(lines: list[str], first: int) -> list[str] | None:
    """Return the lines without the statement that begins at ``first``, with its block if it opens one."""
    depth, last = 0, first
    while True:
        depth += lines[last].count("{") - lines[last].count("}")
        if depth < 0:
            return None
        if depth == 0:
            return lines[:first] + lines[last + 1 :]
        last += 1
        if last == len(lines):
            return None


def unwrapped(lines: list[str], first: int) -> list[str] | None:
    """Return the lines with a block's content in place of the block."""
    if not lines[first].rstrip().endswith("{"):
        return None
    depth, last = 1, first
    while depth:
        last += 1
        if last == len(lines):
            return None
        depth += lines[last].count("{") - lines[last].count("}")
    return lines[:first] + lines[first + 1 : last] + lines[last + 1 :]


def simpler_lines(line: str) -> Iterator[str]:
    """Yield the line with one parenthesis replaced by its parts or by a number."""
    opened: list[int] = []
    pairs = []
    for place, letter in enumerate(line):
        if letter == "(":
            opened.append(place)
        elif letter == ")" and opened:
            pairs.append((opened.pop(), place))
    for begin, end in sorted(pairs, key=lambda p: p[0] - p[1]):
        name = re.search(r"\w*$", line[:begin])
        start = begin - len(name[0]) if name else begin
        inside = line[begin + 1 : end]
        if inside in ("real", "int"):
            continue
        yield f"{line[:start]}(real)0.5{line[end + 1 :]}"
        if start != begin:
            yield line[:start] + "(" + inside + ")" + line[end + 1 :]
        for operator in (" + ", " - ", " * ", " / ", " ? ", " : ", ", "):
            for part in inside.split(operator):
                if part != inside and part.count("(") == part.count(")"):
                    yield line[: begin + 1] + part + line[end:]
    for number in re.findall(r"\(real\)-?\d\.\d{3}", line):
        yield line.replace(number, "(real)0.5", 1)


def candidates(text: str) -> Iterator[str]:
    """Yield smaller texts, the much smaller ones first."""
    lines = text.splitlines()
    for first in range(len(lines)):
        for form in (without_block, unwrapped):
            changed = form(lines, first)
            if changed is not None and changed != lines:
                yield "\n".join(changed) + "\n"
    for place, line in enumerate(lines):
        for simpler in simpler_lines(line):
            if len(simpler) < len(line):
                yield "\n".join([*lines[:place], simpler, *lines[place + 1 :]]) + "\n"


def reduce(program: Program, limit: int, **options: object) -> Program:
    """Take out what can be taken out."""
    target = verdict_of(program, **options)
    print(f"{program.name}: {target}", file=sys.stderr)
    tried: set[str] = set()
    shrunk = True
    while shrunk and limit > 0:
        shrunk = False
        for text in candidates(program.text):
            if text in tried or limit <= 0:
                continue
            tried.add(text)
            limit -= 1
            smaller = dataclasses.replace(program, text=text)
            if verdict_of(smaller, **options) == target:
                program, shrunk = smaller, True
                print(f"  {len(text)} characters, {limit} trials left", file=sys.stderr)
                break
    return program


def main() -> None:
    """Parse arguments and print the reduced program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seed", type=int)
    parser.add_argument("--limit", type=int, default=400, help="how many smaller programs to try")
    given = parser.parse_args()
    print(generator.c_source(reduce(generator.generate(given.seed), given.limit)))


if __name__ == "__main__":
    main()
