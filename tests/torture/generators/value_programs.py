"""Generates programs whose control flow depends on values: sorts, stacks, queues, lists, state machines, tables, early exits.

A program is made from a seed alone, as text in the language of :mod:`generator`: ``real`` is a number, ``LESS(a, b)`` compares two, ``INT(v)`` rounds one
down. It fills a work array from the inputs, runs one to three *parts* on it, each an ordinary algorithm whose branches, trip counts or indices depend on
those numbers, and mixes what they leave into the outputs. Every index is in range by construction.
"""

# ruff: noqa: E501 (the C text is what is long)
from __future__ import annotations

from dataclasses import dataclass, field

from torture.generators.generator import Program
from torture.generators.value_parts import (
    ROOM,
    Writer,
    argsort,
    bins,
    callback,
    compact,
    early,
    heap,
    intervals,
    linked,
    machine,
    memo,
    mixed,
    queue,
    quicksort,
    scratch,
    select,
    slots,
    sorting,
    stack,
    table,
    window,
)
from torture.generators.value_parts_cpp import standard, thrown

PARTS = [
    slots, stack, queue, bins, sorting, sorting, quicksort, quicksort, select, heap, argsort, linked, machine, early, early, intervals,
    memo, scratch, callback, table, mixed, compact, window, standard, standard, thrown,
]  # fmt: skip

CPP_HEADER = "#include <algorithm>\n#include <queue>\n#include <vector>\n"


@dataclass
class ValueProgram(Program):
    """A program of this kind."""

    is_cpp: bool = False
    parts: list[str] = field(default_factory=list)
    fortran: str = ""
    """The program in Fortran; ``text`` is then the C of the same computation, for the reference."""
    suffix: str = ".c"


def generate(seed: int) -> ValueProgram:
    """Return the program of a seed."""
    w = Writer(seed)
    shape = w.random.choice(["map", "map", "in_place", "number", "two_inputs"])
    made = [w.random.choice(PARTS)(w) for _ in range(w.random.choice([1, 1, 2, 3]))]
    single = w.random.random() < 0.15
    name = f"p{seed}"
    head, signature, fill, close = {
        "map": (
            f"void {name}(const real *x, int n, real *y)",
            "x[n] -> y[n]",
            f"x[i] * {w.number(0.6, 1.4)}",
            "y[i] = a[i] + (real)0.2 * s;",
        ),
        "in_place": (f"void {name}(real *y, int n)", "y[n] -> y[n]", "y[i]", "y[i] = a[i] * y[i] + (real)0.2 * s;"),
        "number": (f"real {name}(const real *x, int n)", "x[n] -> return", "x[i]", "s += a[i] * (real)(i + 1);"),
        "two_inputs": (
            f"void {name}(const real *x, const real *w, int n, real *y)",
            "x[n], w[n] -> y[n]",
            "x[i] + (real)0.5 * w[i]",
            "y[i] = a[i] * w[i] + (real)0.2 * s;",
        ),
    }[shape]
    statements = "\n  ".join(f"{{ {part.statement} }}" for part in made)
    text = "\n".join(
        [
            *dict.fromkeys(part.functions for part in made if part.functions),
            f"{head} {{",
            f"  real a[{ROOM}], s = (real)0.0; int m = n;",
            f"  for (int i = 0; i < m; i++) a[i] = {fill};",
            f"  {statements}",
            f"  for (int i = 0; i < m; i++) {{ {close} }}",
            *(["  return s;"] if shape == "number" else []),
            "}",
            "",
        ]
    )
    is_cpp = any(part.is_cpp for part in made)
    return ValueProgram(
        seed,
        name,
        text,
        signature,
        shape,
        single,
        {p.name for p in made},
        is_cpp,
        [p.name for p in made],
        suffix=".cpp" if is_cpp else ".c",
    )
