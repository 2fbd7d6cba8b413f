"""Generates Fortran programs whose control flow depends on values, each with the C of the same computation for the reference.

As :mod:`value_programs`, and then: procedures stand in a module, alone, or inside the differentiated one; the text is in free or in fixed form; the work
array has a fixed size, the size of the input, or is allocated; a part is a ``block`` or a subroutine of its own.
"""

from __future__ import annotations

import re

from torture.generators.fortran_text import laid_out
from torture.generators.value_parts import ROOM
from torture.generators.value_parts_fortran import (
    FortranPart,
    FortranWriter,
    Pair,
    bins,
    heap,
    linked,
    queue,
    slots,
    stack,
    window,
)
from torture.generators.value_parts_fortran_flow import compact, early, extremes, intervals, machine, masked
from torture.generators.value_parts_fortran_sort import argsort, quicksort, select, sorting
from torture.generators.value_parts_fortran_state import callback, memo, mixed, table, work
from torture.generators.value_programs import ValueProgram

PARTS = [
    slots, stack, queue, bins, sorting, sorting, quicksort, quicksort, select, heap, argsort, linked, linked, machine, machine, early, early, intervals,
    memo, memo, work, work, callback, table, mixed, mixed, compact, masked, extremes, window,
]  # fmt: skip

PROCEDURE = re.compile(r"^((?:recursive )?(?:real\(rk\) )?(?:subroutine|function) .*)$", re.MULTILINE)
KIND = re.compile(r"\brk\b|(?<=_)rk\b")


def generate(seed: int) -> ValueProgram:
    """Return the program of a seed."""
    w = FortranWriter(seed)
    shape = w.random.choice(["map", "map", "in_place", "number", "two_inputs"])
    layout = w.random.choice(["module", "module", "module", "external", "external", "internal"])
    fixed, dummies = w.random.random() < 0.25, w.random.choice(["(n)", "(n)", "(:)"])
    if layout == "external":
        # Assumed shapes need an explicit interface.
        dummies = w.random.choice(["(n)", "(*)"])
    made = [w.random.choice(PARTS)(w) for _ in range(w.random.choice([1, 1, 2, 3]))]
    single = w.random.random() < 0.15
    name, weight = f"p{seed}", w.constant(0.6, 1.4)
    signature, fill, close = {
        "map": (
            "x[n] -> y[n]",
            Pair(f"x[i] * {weight.c}", f"x(i) * {weight.f}"),
            Pair("y[i] = a[i] + (real)0.2 * s;", "y(i) = a(i) + 0.2_rk * s"),
        ),
        "in_place": (
            "y[n] -> y[n]",
            Pair("y[i]", "y(i)"),
            Pair("y[i] = a[i] * y[i] + (real)0.2 * s;", "y(i) = a(i) * y(i) + 0.2_rk * s"),
        ),
        "number": (
            "x[n] -> return",
            Pair("x[i]", "x(i)"),
            Pair("s += a[i] * (real)(i + 1);", "s = s + a(i) * real(i, rk)"),
        ),
        "two_inputs": (
            "x[n], w[n] -> y[n]",
            Pair("x[i] + (real)0.5 * w[i]", "x(i) + 0.5_rk * w(i)"),
            Pair("y[i] = a[i] * w[i] + (real)0.2 * s;", "y(i) = a(i) * w(i) + 0.2_rk * s"),
        ),
    }[shape]
    c = c_text(name, shape, fill.c, close.c, made)
    fortran = laid_out(in_kind(fortran_text(w, shape, layout, dummies, fill.f, close.f, made), single), fixed)
    features = {p.name for p in made} | {f"layout-{layout}", "fixed-form" if fixed else "free-form"}
    parts = [p.name for p in made]
    return ValueProgram(
        seed, name, c, signature, shape, single, features, False, parts, fortran, ".f" if fixed else ".f90"
    )


def c_text(name: str, shape: str, fill: str, close: str, made: list[FortranPart]) -> str:
    """Return the C of a program, which the reference runs."""
    head = {
        "map": f"void {name}(const real *x, int n, real *y)",
        "in_place": f"void {name}(real *y, int n)",
        "number": f"real {name}(const real *x, int n)",
        "two_inputs": f"void {name}(const real *x, const real *w, int n, real *y)",
    }[shape]
    return "\n".join(
        [
            *(part.functions for part in made if part.functions),
            f"{head} {{",
            f"  real a[{ROOM}], s = (real)0.0; int m = n;",
            f"  for (int i = 0; i < m; i++) a[i] = {fill};",
            *(f"  {{ {part.statement} }}" for part in made),
            f"  for (int i = 0; i < m; i++) {{ {close} }}",
            *(["  return s;"] if shape == "number" else []),
            "}",
            "",
        ]
    )


def fortran_text(
    w: FortranWriter, shape: str, layout: str, dummies: str, fill: str, close: str, made: list[FortranPart]
) -> str:
    """Return the Fortran of a program, not yet laid out."""
    name, array = f"p{w.seed}", w.random.choice([f"a({ROOM})", "a(n)", "a(:)"])
    names = {"map": ["x", "y"], "in_place": ["y"], "number": ["x"], "two_inputs": ["x", "w", "y"]}[shape]
    intents = {"x": "in", "w": "in", "y": "inout" if shape == "in_place" else "out"}
    arguments = [f"real(rk), intent({intents[v]}) :: {v}{dummies}" for v in names]
    # The number of elements is last but one where there is an output, as in the C.
    passed = [*names[:-1], "n", names[-1]] if shape in ("map", "two_inputs") else [*names, "n"]
    if dummies == "(:)":
        passed, length = names, f"integer :: n\n@n = size({names[0]})"
    else:
        length = "integer, intent(in) :: n"
    statements, procedures, declared = [], [], []
    for i, part in enumerate(made):
        is_external = layout == "external" and part.results
        functions = f"real(rk), external :: {', '.join(part.results)}\n" if is_external else ""
        if not part.is_old and w.random.random() < 0.5:
            statements.append(f"block\n{functions}{part.declarations}\n{part.fortran}\nend block")
        else:
            own = f"part{w.seed}_{i + 1}"
            whole = "a(:)" if layout != "external" and w.random.random() < 0.3 else "a(m)"
            statements.append(f"call {own}(a, m, s)")
            procedures.append(
                f"subroutine {own}(a, m, s)\ninteger, intent(in) :: m\nreal(rk), intent(inout) :: {whole}, s\n"
                f"{functions}{part.declarations}\n{part.fortran}\nend subroutine"
            )
        procedures += [part.procedures] if part.procedures else []
        declared += [part.specification] if part.specification else []
    is_function, is_allocated = shape == "number", array == "a(:)"
    if array == "a(n)" and dummies == "(:)":
        array = f"a(size({names[0]}))"
    head = f"{'real(rk) function' if is_function else 'subroutine'} {name}({', '.join(passed)})"
    length, _, set_length = length.partition("\n@")
    body = [
        head,
        length,
        *arguments,
        f"real(rk){', allocatable' if is_allocated else ''} :: {array}",
        "real(rk) :: s\ninteger :: i, m",
        *(declared if layout == "internal" else []),
        set_length,
        f"allocate(a({ROOM}))" if is_allocated else "",
        f"m = n\ns = 0.0_rk\ndo i = 1, m\na(i) = {fill}\nend do",
        *statements,
        f"do i = 1, m\n{close}\nend do",
        f"{name} = s" if is_function else "",
    ]
    end = "end function" if is_function else "end subroutine"
    if layout == "internal":
        return "\n".join([*body, *(["contains", *procedures] if procedures else []), end])
    if layout == "module":
        return "\n".join(
            [f"module values{w.seed}", "implicit none", *declared, "contains", *body, end, *procedures, "end module"]
        )
    # Every external procedure stands alone, and takes types and variables from a module where there are any.
    opening = (f"use data{w.seed}\n" if declared else "") + "implicit none"
    alone = PROCEDURE.sub(lambda found: f"{found[1]}\n{opening}", "\n".join([*body, end, *procedures]))
    shared = [f"module data{w.seed}", "implicit none", *declared, "end module"] if declared else []
    return "\n".join([*shared, alone])


def in_kind(text: str, single: bool) -> str:
    """Return the text with the kind of its reals in place of ``rk``."""
    return KIND.sub("4" if single else "8", text)
