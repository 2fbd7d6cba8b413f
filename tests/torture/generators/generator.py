"""Generates random numeric C programs: loops, branches, local memory, pointers, calls, index arithmetic, updates in place.

A program is made from a seed alone. Its text is C where ``real`` is ``double`` or ``float``, and C++ where ``real`` is the number type of
``reference.hpp``; so the reference runs the same text. Every index is in range and every variable is written before it is
read, by construction; values stay moderate because most results go through bounded functions.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

# Functions of one number that are smooth and defined everywhere.
SMOOTH = ["SIN", "COS", "TANH", "ATAN", "ERF", "SOFT", "BELL", "ROOT", "LOGP"]
KINKED = ["FABS"]
SHAPES = ["map", "in_place", "number", "two_inputs", "scalar", "several_outputs", "scratch"]


@dataclass
class Program:
    """One generated program, and how ffgrad and the reference call it."""

    seed: int
    name: str
    text: str
    signature: str
    shape: str
    single: bool
    features: set[str] = field(default_factory=set)


@dataclass
class Scope:
    """What a statement can use."""

    scalars: list[str]
    arrays: dict[str, str]
    writable: dict[str, str]
    ints: list[str]
    targets: list[str]

    def inner(self) -> Scope:
        """Return a copy for a block: what is declared in it is unknown outside."""
        return Scope(list(self.scalars), dict(self.arrays), dict(self.writable), list(self.ints), list(self.targets))


class Generator:
    """Writes one program; every random choice comes from the seed."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.count = 0
        self.features: set[str] = set()
        self.helpers: list[str] = []
        self.budget = self.rng.randint(4, 11)
        self.callable = True

    def fresh(self, prefix: str) -> str:
        """Return a name that is not in use."""
        self.count += 1
        return f"{prefix}{self.count}"

    # --- expressions ---------------------------------------------------------------------------------

    def constant(self) -> str:
        """Return a moderate number."""
        return f"(real){self.rng.uniform(-1.5, 1.5):.3f}"

    def integer(self, scope: Scope, depth: int = 2) -> str:
        """Return an expression that is never negative and stays far from overflow."""
        if depth == 0 or not scope.ints or self.rng.random() < 0.3:
            return self.rng.choice([*scope.ints, str(self.rng.randint(0, 9))])
        a, b = self.integer(scope, depth - 1), self.integer(scope, depth - 1)
        form = self.rng.choice(
            ["({a} + {b})", "({a} * {k} + {b})", "({a} ^ {b})", "({a} >> 1)", "({a} % {k})", "({b} / {k})"]
        )
        return form.format(a=a, b=b, k=self.rng.randint(2, 5))

    def element(self, scope: Scope, arrays: dict[str, str]) -> str:
        """Return an element of one of the arrays."""
        name = self.rng.choice(list(arrays))
        return f"{name}[({self.integer(scope)}) % {arrays[name]}]"

    def leaf(self, scope: Scope) -> str:
        """Return a number, a variable or an element."""
        choices: list[Callable[[], str]] = [self.constant]
        choices += [lambda: self.element(scope, scope.arrays)] * 4
        if scope.scalars:
            choices += [lambda: self.rng.choice(scope.scalars)] * 4
        if scope.ints:
            choices.append(lambda: f"(real)({self.integer(scope, 1)}) * (real)0.07")
        return self.rng.choice(choices)()

    def expression(self, scope: Scope, depth: int) -> str:
        """Return an expression of the type ``real``."""
        if depth == 0:
            return self.leaf(scope)
        pick = self.rng.random()
        a = self.expression(scope, depth - 1)
        if pick < 0.2:
            return f"{self.rng.choice(SMOOTH)}({a})"
        if pick < 0.24:
            self.features.add("kinks")
            return f"{self.rng.choice(KINKED)}({a})"
        b = self.expression(scope, self.rng.randint(0, depth - 1))
        if pick < 0.5:
            return f"({a} {self.rng.choice('+-')} {b})"
        if pick < 0.75:
            return f"({a} * {b})"
        if pick < 0.83:
            return f"({a} / ((real)1.5 + {b} * {b}))"
        if pick < 0.87:
            self.features.add("kinks")
            return f"{self.rng.choice(['FMIN', 'FMAX'])}({a}, {b})"
        if pick < 0.91:
            return f"POW((real)1.2 + {a} * {a}, TANH({b}))"
        if pick < 0.95 and self.callable and self.helpers_allowed():
            return self.call_value(scope, a, b)
        self.features.add("selects")
        return f"({self.condition(scope)} ? {a} : {b})"

    def condition(self, scope: Scope) -> str:
        """Return a condition, of numbers or of integers."""
        if scope.ints and self.rng.random() < 0.4:
            return f"(({self.integer(scope)}) % {self.rng.randint(2, 4)} == {self.rng.randint(0, 1)})"
        return f"(LESS({self.leaf(scope)}, {self.leaf(scope)}))"

    def bounded(self, scope: Scope, depth: int = 3) -> str:
        """Return an expression whose value is moderate, mostly."""
        e = self.expression(scope, depth)
        return self.rng.choice([f"TANH({e})", f"SIN({e})", f"(real)0.3 * ({e})", f"({e}) / (real)2.5"])

    # --- helper functions -----------------------------------------------------------------------------

    def helpers_allowed(self) -> bool:
        """Return whether one more helper function is welcome."""
        return len(self.helpers) < 4

    def helper_scope(self, scalars: list[str], arrays: dict[str, str], ints: list[str]) -> Scope:
        """Return the scope of a helper's body."""
        return Scope(scalars, arrays, {}, ints, [])

    def call_value(self, scope: Scope, a: str, b: str) -> str:
        """Return a call of a new helper that takes two numbers, some of them recursive or through a pointer."""
        self.features.add("calls")
        name = f"h{len(self.helpers)}_NAME"
        self.helpers.append("")
        place = len(self.helpers) - 1
        self.callable = False
        inner = self.helper_scope(["a", "b"], {"c2": "2"}, ["k"])
        body = self.bounded(inner, 2)
        other = self.expression(inner, 1)
        self.callable = True
        kind = self.rng.choice(["plain", "recursive", "pointer", "early", "struct"])
        self.features.add(f"calls-{kind}")
        opening = f"real {name}(real a, real b, int k) {{\n  real c2[2]; c2[0] = a * b; c2[1] = b - a;\n"
        depth = self.rng.randint(1, 4)
        if kind == "recursive":
            text = f"static {opening}  if (k <= 0) return {body};\n  return TANH({other} + (real)0.5 * {name}(b, a * (real)0.9, k - 1));\n}}\n"
        elif kind == "early":
            text = f"static {opening}  for (int i = 0; i < k; i++) {{ a = {body}; if (LESS(a, b)) return a * b; b = b * (real)0.9; }}\n  return {other};\n}}\n"
        elif kind == "struct":
            text = (
                f"struct s_{name} {{ real p; real q[2]; int m; }};\n"
                f"static void u_{name}(struct s_{name} *s) {{ s->p = s->p * s->q[1] + s->q[0]; s->q[s->m % 2] = SIN(s->p); s->m++; }}\n"
                f"static {opening}  struct s_{name} s; s.p = a; s.q[0] = {body}; s.q[1] = b; s.m = k;\n"
                f"  for (int i = 0; i < {depth}; i++) u_{name}(&s);\n  return s.p + s.q[0] * s.q[1];\n}}\n"
            )
        else:
            quality = "" if kind == "plain" else "__attribute__((noinline)) "
            text = f"static {quality}{opening}  (void)k; return {body} + {other};\n}}\n"
        self.helpers[place] = text
        if kind == "pointer":
            return f"((real (*[2])(real, real, int)){{{name}, {name}}}[({self.integer(scope)}) % 2])({a}, {b}, {depth})"
        return f"{name}({a}, {b}, {depth})"

    def call_statement(self, scope: Scope) -> list[str]:
        """Call a new helper that works on an array through a pointer."""
        if not self.helpers_allowed():
            return self.assignment(scope)
        self.features.add("pointers")
        name = f"h{len(self.helpers)}_NAME"
        self.helpers.append("")
        place = len(self.helpers) - 1
        self.callable = False
        inner = self.helper_scope(["s"], {"p": "m", "q": "m"}, ["i", "m"])
        body = self.bounded(inner, 2)
        self.callable = True
        quality = self.rng.choice(["", "__attribute__((noinline)) "])
        loop = self.rng.choice(
            ["for (int i = 0; i < m; i++)", "for (int i = m - 1; i >= 0; i--)", "for (int i = 0; i < m; i += 2)"]
        )
        update = self.rng.choice(
            [
                "p[i] = {b};",
                "p[i] += {b};",
                "*p = *p * (real)0.8 + {b}; s = {b};",
                "p[m - 1 - i] = p[i] * (real)0.5 + {b};",
            ]
        )
        self.helpers[place] = (
            f"static {quality}void {name}(real *p, const real *q, int m, real s) {{\n"
            f"  {loop} {{ {update.format(b=body)} }}\n}}\n"
        )
        target = self.rng.choice(list(scope.writable))
        source = self.rng.choice(list(scope.arrays))
        length = f"MIN({scope.writable[target]}, {scope.arrays[source]})"
        return [f"{name}({target}, {source}, {length}, {self.leaf(scope)});"]

    # --- statements -----------------------------------------------------------------------------------

    def assignment(self, scope: Scope) -> list[str]:
        """Write one element or one variable, or declare one."""
        value = self.bounded(scope)
        pick = self.rng.random()
        if pick < 0.25:
            name = self.fresh("v")
            scope.scalars.append(name)
            scope.targets.append(name)
            return [f"real {name} = {value};"]
        if pick < 0.5 and scope.targets:
            target = self.rng.choice(scope.targets)
        else:
            target = self.element(scope, scope.writable)
        form = self.rng.choice(
            ["{t} = {v};", "{t} += {v};", "{t} = {t} * (real)0.7 + {v};", "{t} *= SIN({v});", "{t} -= {v};"]
        )
        return [form.format(t=target, v=value)]

    def local_array(self, scope: Scope) -> list[str]:
        """Declare an array on the stack or the heap and fill it."""
        name, length, index = self.fresh("t"), str(self.rng.randint(3, 9)), self.fresh("i")
        inner = scope.inner()
        inner.ints.append(index)
        value = self.bounded(inner, 2)
        scope.arrays[name] = scope.writable[name] = length
        fill = f"for (int {index} = 0; {index} < {length}; {index}++) {name}[{index}] = {value};"
        kind = self.rng.choice(["stack", "stack", "zero", "heap", "copy"])
        self.features.add(f"array-{kind}")
        if kind == "heap":
            self.frees.append(f"free({name});")
            return [f"real *{name} = (real *)malloc({length} * sizeof(real));", fill]
        if kind == "zero":
            return [
                f"real {name}[{length}]; for (int z = 0; z < {length}; z++) {name}[z] = (real)0.0;",
                fill.replace("] = ", "] += ", 1),
            ]
        if kind == "copy":
            other = name + "c"
            scope.arrays[other] = scope.writable[other] = length
            return [f"real {name}[{length}], {other}[{length}];", fill, f"memcpy({other}, {name}, sizeof {name});"]
        return [f"real {name}[{length}];", fill]

    def loop(self, scope: Scope, depth: int) -> list[str]:
        """Write a loop of one of several forms."""
        index, inner = self.fresh("i"), scope.inner()
        inner.ints.append(index)
        bound = self.rng.choice(["n", "n", str(self.rng.randint(2, 7)), f"({self.integer(scope, 1)}) % 5 + 1"])
        kind = self.rng.choice(["up", "up", "up", "down", "while", "do", "step"])
        self.features.add(f"loop-{kind}")
        tail: list[str] = []
        if self.rng.random() < 0.2:
            self.features.add("break")
            tail = [f"if {self.condition(inner) if self.rng.random() < 0.5 else f'({index} > 3)'} break;"]
        head: list[str] = []
        if kind != "do" and kind != "while" and self.rng.random() < 0.15:
            self.features.add("continue")
            head = [f"if (({index}) % 3 == 1) continue;"]
        if self.rng.random() < 0.15 and scope.scalars and scope.targets:
            self.features.add("carried")
            target = self.rng.choice(scope.targets)
            tail.append(f"{target} = TANH({target} + {self.leaf(inner)});")
        body = [*head, *self.block(inner, depth - 1), *tail]
        heads = {
            "up": f"for (int {index} = 0; {index} < {bound}; {index}++) {{",
            "step": f"for (int {index} = 1; {index} < {bound}; {index} += 2) {{",
            "down": f"for (int {index} = {bound} - 1; {index} >= 0; {index}--) {{",
        }
        if kind in heads:
            return [heads[kind], *body, "}"]
        if kind == "while":
            limit = self.rng.choice(["", f" && LESS({self.leaf(scope)}, (real)0.9)"])
            return [f"int {index} = 0;", f"while ({index} < {bound}{limit}) {{", *body, f"{index}++;", "}"]
        return [f"int {index} = 0;", "do {", *body, f"}} while (++{index} < {bound});"]

    def branch(self, scope: Scope, depth: int) -> list[str]:
        """Write an if or a switch."""
        if scope.ints and self.rng.random() < 0.3:
            self.features.add("switch")
            cases = []
            for k in range(self.rng.randint(2, 3)):
                fall = "" if self.rng.random() < 0.2 else "break;"
                cases += [f"case {k}: {{", *self.block(scope.inner(), 0), f"}} {fall}"]
            return [
                f"switch (({self.integer(scope)}) % 4) {{",
                *cases,
                "default: {",
                *self.block(scope.inner(), 0),
                "}",
                "}",
            ]
        self.features.add("branch")
        text = [f"if {self.condition(scope)} {{", *self.block(scope.inner(), depth - 1)]
        if self.rng.random() < 0.6:
            text += ["} else {", *self.block(scope.inner(), depth - 1)]
        return [*text, "}"]

    def pointer(self, scope: Scope) -> list[str]:
        """Declare a pointer into an array, swap two, or increment one."""
        local = {a: length for a, length in scope.writable.items() if length.isdigit() and int(length) >= 3}
        if not local:
            return self.local_array(scope)
        self.features.add("pointers")
        a = self.rng.choice(list(local))
        if self.rng.random() < 0.4 and len(local) > 1:
            b = self.rng.choice([other for other in local if other != a])
            p, q, length = self.fresh("p"), self.fresh("p"), min(int(local[a]), int(local[b]))
            self.features.add("swapped")
            index, inner = self.fresh("i"), scope.inner()
            inner.arrays |= {p: str(length), q: str(length)}
            value = self.bounded(inner, 2)
            steps = self.rng.randint(1, 4)
            lines = [f"real *{p} = {a}, *{q} = {b};", f"for (int {index} = 0; {index} < {steps}; {index}++) {{"]
            lines += [f"for (int j = 0; j < {length}; j++) {q}[j] = {p}[(j + 1) % {length}] * (real)0.5 + {value};"]
            lines += [f"real *w = {p}; {p} = {q}; {q} = w;", "}"]
            scope.arrays[p] = scope.writable[p] = str(length)
            return lines
        offset, name = self.rng.randint(1, int(local[a]) - 1), self.fresh("p")
        scope.arrays[name] = scope.writable[name] = str(int(local[a]) - offset)
        if self.rng.random() < 0.3 and scope.ints:
            self.features.add("chosen-pointer")
            return [f"real *{name} = ({self.integer(scope)}) % 2 ? {a} : {a} + {offset};"]
        return [f"real *{name} = {a} + {offset};"]

    def swap(self, scope: Scope) -> list[str]:
        """Exchange or shift elements."""
        x, y, name = self.element(scope, scope.writable), self.element(scope, scope.writable), self.fresh("e")
        return [f"{{ real {name} = {x}; {x} = {y}; {y} = {name}; }}"]

    def indices(self, scope: Scope) -> list[str]:
        """Declare an array of integers and scatter or gather through it."""
        self.features.add("indices")
        name, length = self.fresh("d"), self.rng.randint(3, 6)
        target = self.rng.choice(list(scope.writable))
        source = self.rng.choice(list(scope.arrays))
        fill = f"for (int j = 0; j < {length}; j++) {name}[j] = (j * {self.rng.randint(1, 7)} + {self.integer(scope, 1)}) % {length};"
        write, read = scope.writable[target], scope.arrays[source]
        use = f"for (int j = 0; j < {length}; j++) "
        use += f"{target}[{name}[j] % {write}] += SIN({source}[{name}[{name}[j]] % {read}]) * {self.leaf(scope)};"
        return [f"int {name}[{length}];", fill, use]

    def matrix(self, scope: Scope) -> list[str]:
        """Multiply a matrix on the stack with an array."""
        self.features.add("matrix")
        name, rows, columns = self.fresh("m"), self.rng.randint(2, 4), self.rng.randint(2, 4)
        source = self.rng.choice(list(scope.arrays))
        target = self.rng.choice(list(scope.writable))
        inner = scope.inner()
        inner.ints += ["r", "c"]
        entry = self.bounded(inner, 2)
        return [
            f"real {name}[{rows}][{columns}];",
            f"for (int r = 0; r < {rows}; r++) for (int c = 0; c < {columns}; c++) {name}[r][c] = {entry};",
            f"for (int r = 0; r < {rows}; r++) {{ real s = (real)0.0; for (int c = 0; c < {columns}; c++) "
            f"s += {name}[r][c] * {source}[c % {scope.arrays[source]}]; {target}[r % {scope.writable[target]}] += TANH(s); }}",
        ]

    def block(self, scope: Scope, depth: int) -> list[str]:
        """Write a few statements."""
        lines: list[str] = []
        for _ in range(self.rng.randint(1, 3 if depth > 0 else 2)):
            lines += self.statement(scope, depth)
        return lines

    def statement(self, scope: Scope, depth: int) -> list[str]:
        """Write one statement, which may hold others."""
        self.budget -= 1
        pick = self.rng.random()
        if depth <= 0 or self.budget <= 0 or pick < 0.35:
            return self.assignment(scope)
        if pick < 0.6:
            return self.loop(scope, depth)
        if pick < 0.75:
            return self.branch(scope, depth)
        if pick < 0.82:
            return self.call_statement(scope)
        if pick < 0.88:
            return self.pointer(scope) if self.top_level(depth) else self.swap(scope)
        if pick < 0.92:
            return self.swap(scope)
        if pick < 0.96:
            return self.indices(scope)
        return self.matrix(scope)

    def top_level(self, depth: int) -> bool:
        """Return whether this is the function's own block, where pointers may be declared for good."""
        return depth >= 3

    def body(self, scope: Scope) -> list[str]:
        """Write the function's body."""
        self.frees: list[str] = []
        lines: list[str] = []
        for _ in range(self.rng.randint(0, 2)):
            lines += self.local_array(scope)
        lines += self.block(scope, 3)
        while self.budget > 0:
            lines += self.statement(scope, 3)
        return lines


def generate(seed: int) -> Program:
    """Return the program of a seed."""
    g = Generator(seed)
    shape, single = g.rng.choice(SHAPES), g.rng.random() < 0.3
    name = f"p{seed}"
    outer = {
        "map": ("void {}(const real *x, int n, real *y)", "x[n] -> y[n]"),
        "in_place": ("void {}(real *y, int n)", "y[n] -> y[n]"),
        "number": ("real {}(const real *x, int n)", "x[n] -> return"),
        "two_inputs": ("void {}(const real *x, const real *w, int n, real *y)", "x[n], w[n] -> y[n]"),
        "scalar": ("void {}(const real *x, real a, int n, real *y)", "x[n], a -> y[n]"),
        "several_outputs": ("void {}(const real *x, int n, real *y, real *z)", "x[n] -> y[n], z[3]"),
        "scratch": ("void {}(const real *x, int n, real *y, real *w)", "x[n] -> y[n]; w[2*n]"),
    }[shape]
    arrays = {"x": "n"} if shape != "in_place" else {"y": "n"}
    writable = {"y": "n"}
    opening = ["for (int z = 0; z < n; z++) y[z] = (real)0.1 * x[z];"]
    if shape == "number":
        opening, writable = ["real y[5]; for (int z = 0; z < 5; z++) y[z] = x[z % n] * (real)0.5;"], {"y": "5"}
    if shape == "in_place":
        opening = []
    if shape == "two_inputs":
        arrays["w"] = "n"
    if shape == "several_outputs":
        writable["z"] = "3"
        opening.append("for (int j = 0; j < 3; j++) z[j] = SIN(x[j % n]);")
    if shape == "scratch":
        writable["w"] = "(2 * n)"
        opening.append("for (int j = 0; j < 2 * n; j++) w[j] = x[j % n] * (real)0.3;")
    scope = Scope(["a"] if shape == "scalar" else [], {**arrays, **writable}, writable, ["n"], [])
    lines = g.body(scope)
    if shape == "in_place":
        # An output that is never written to is refused.
        lines.append("y[n - 1] *= (real)0.9;")
    closing = list(g.frees)
    if shape == "number":
        closing += ["return y[0] + TANH(y[1]) * y[2] - y[3] * y[4];"]
    text = "\n".join(["", *g.helpers, outer[0].format("NAME") + " {", *opening, *lines, *closing, "}", ""])
    return Program(seed, name, text.replace("NAME", name), outer[1], shape, single, g.features)


def found() -> list[Program]:
    """Return the programs that were once differentiated wrong."""
    programs = []
    for path in sorted((Path(__file__).resolve().parents[2] / "cases" / "enzyme_bugs").glob("*_generated.c")):
        text = path.read_text()
        about = dict(part.split("=", 1) for part in text.splitlines()[1].strip("/* ").split(" | "))
        seed, single = int(about["seed"]), about["real"] == "float"
        programs.append(Program(seed, f"p{seed}", text, about["signature"], about["shape"], single))
    return sorted(programs, key=lambda p: p.name)


C_HEADER = """\
#include <math.h>
#include <stdlib.h>
#include <string.h>
#define real {real}
#define SIN(x) sin{suffix}(x)
#define COS(x) cos{suffix}(x)
#define TANH(x) tanh{suffix}(x)
#define ATAN(x) atan{suffix}(x)
#define ERF(x) erf{suffix}(x)
#define POW(x, y) pow{suffix}(x, y)
#define FABS(x) fabs{suffix}(x)
#define FMIN(x, y) fmin{suffix}(x, y)
#define FMAX(x, y) fmax{suffix}(x, y)
#define LESS(x, y) ((x) < (y))
#define INT(x) ((int)floor(x))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
static inline real SOFT(real x) {{ return log1p{suffix}(exp{suffix}(-x * x)); }}
static inline real BELL(real x) {{ return exp{suffix}(-x * x); }}
static inline real ROOT(real x) {{ return sqrt{suffix}((real)1.0 + x * x); }}
static inline real LOGP(real x) {{ return log{suffix}((real)1.1 + x * x); }}
"""


def c_source(program: Program) -> str:
    """Return the program as a C file that stands alone."""
    real, suffix = ("float", "f") if program.single else ("double", "")
    return C_HEADER.format(real=real, suffix=suffix) + program.text
