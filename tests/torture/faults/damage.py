"""Generates the malformed inputs of ``malformed.py`` from random numbers: sources, paths, signatures, calls."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

from torture.generators import generator

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
        return name, encoded(rng, text), function
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


def encoded(rng: random.Random, text: str) -> bytes:
    """Return the text in an encoding that no compiler asked for, or with bytes between that none has."""
    kind = rng.choice(
        ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig", "utf-7", "zeros", "latin", "two marks"]
    )
    if kind == "zeros":
        plain = bytearray(text.encode())
        for _ in range(rng.randint(1, 20)):
            plain.insert(rng.randrange(len(plain) + 1), 0)
        return bytes(plain)
    if kind == "latin":
        return text.replace("x", "x\u00e9").encode("latin-1")
    if kind == "two marks":
        return b"\xef\xbb\xbf\xef\xbb\xbf" + text.encode()
    return text.encode(kind)


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
            huge_macro(rng.choice([4, 12, 18])),
            "double f(double x) { return x" + " + x" * (20 * depth) + "; }\n",
            "double f(double x) { return " + "-" * depth + "x; }\n",
            "double f(double x) { " + "if (x > 0) " * depth + "x = 1; return x; }\n",
            "double f(double " + "*" * depth + "x) { return 0; }\n",
            "double f(double x) { double a" + "[2]" * depth + "; return x; }\n",
            "#if 1\n" * depth + "double f(double x) { return x; }\n",
            f'#line {rng.choice([0, -1, 2**31, 2**40])} "nowhere.c"\ndouble f(double x) {{ return x }}\n',
            "double " + "f" * 100 * depth + "(double x) { return x; }\n",
            'static const char *s = "' + "a" * 1000 * depth + '"; double f(double x) { return x + s[0]; }\n',
            "struct s { struct s s; }; double f(double x) { struct s s; return x; }\n",
            "double f(double x) { return f; }\n",
            "double f(double x[static 1 << 40]) { return x[0]; }\n",
            "double f(double x) { switch (0) { " + "".join(f"case {i}: " for i in range(depth)) + "} return x; }\n",
            "double f(double x) { goto l; l: m: goto l; }\n",
            "#pragma once\n#pragma pack(3)\n#pragma omp parallel for\n_Pragma(\n",
            "double f(double x) { return __builtin_nonesuch(x) + __builtin_trap(); }\n",
        ]
    )


def huge_macro(doublings: int) -> str:
    """Return a C text with macros that expand to two to the power of ``doublings`` terms."""
    lines = ["#define M0 x"] + [f"#define M{i + 1} (M{i} + M{i})" for i in range(doublings)]
    return "\n".join(lines) + f"\ndouble f(double x) {{ return M{doublings}; }}\n"


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
            "template <class... T> struct P {};\ntemplate <class... T> double g(double x, P<T...>) { return g(x, P<T..., T...>()); }\n"
            "double f(double x) { return g(x, P<int>()); }\n",
            "double f(double x) { auto g = [](auto self, auto y) { return self(self, [y] { return y; }); }; return g(g, x); }\n",
            "template <template <class> class T> struct Q { T<Q<T>> q; };\ntemplate <class T> struct I { T t; };\n"
            "double f(double x) { Q<I> q; return x; }\n",
            f"template <int... N> constexpr int sum() {{ return (N + ... + 0); }}\ntemplate <int N, int... M> struct L : L<N - 1, N, M...> {{}};\n"
            f"template <int... M> struct L<0, M...> {{ static const int v = sum<M...>(); }};\n"
            f"double f(double x) {{ return x * L<{min(depth, 2000)}>::v; }}\n",
        ]
    )


# --- what is no source file ---------------------------------------------------------------------------------

GOOD = "double f(double x) { return x * x; }\n"


def place(rng: random.Random, folder: Path) -> tuple[Any, dict[str, Any]]:
    """Return sources that are no plain files, or files that lead to others in a circle, and options."""
    kind = rng.choice(
        ["folder", "fifo", "loop", "dangling", "device", "empty", "names", "circle", "included", "several", "options"]
    )
    path = folder / "m.c"
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "loop":
        (folder / "n.c").symlink_to(path)
        path.symlink_to(folder / "n.c")
    elif kind == "dangling":
        path.symlink_to(folder / "nowhere.c")
    elif kind == "device":
        return rng.choice(["/dev/null", "/dev/zero", "/dev/stdin", "/proc/self/mem", "/", "", ".", "\0", "m\n.c"]), {}
    elif kind == "empty":
        path.write_bytes(rng.choice([b"", b"\n", b"\0", b"\\", b"#", b"/*", b"\xff\xfe", b"\xef\xbb\xbf"]))
    elif kind == "names":
        odd = [
            "a b.c",
            "'.c",
            '".c',
            "$(id).c",
            "-o.c",
            "\udcff.c",
            "a\nb.c",
            "é.c",
            "%n.c",
            "a:b.c",
            "x" * 251 + ".c",
            "a\\.c",
            "#.c",
        ]
        path = folder / rng.choice(odd)
        path.write_text(GOOD)
    elif kind == "circle":
        return circle(rng, folder), {}
    elif kind == "included":
        return included(rng, folder), {}
    elif kind == "several":
        path.write_text(GOOD)
        return rng.choice([[], [path, path], [path, folder], [path] * 20, [path, folder / "n.c"]]), {}
    else:
        path.write_text(GOOD)
        return path, options(rng, folder)
    return path, {}


def circle(rng: random.Random, folder: Path) -> Path:
    """Return a source whose includes never end."""
    first, second = folder / "m.c", folder / "n.h"
    kind = rng.randrange(3)
    if kind == 0:
        first.write_text('#include "n.h"\n' + GOOD)
        second.write_text('#include "m.c"\n')
    elif kind == 1:
        # Twice itself: as many as two to the power of the depth that is allowed.
        first.write_text('#include "n.h"\n' + GOOD)
        second.write_text('#include "n.h"\n#include "n.h"\n')
    else:
        inner = folder / "a"
        inner.mkdir()
        (inner / "a").symlink_to(inner, target_is_directory=True)
        (inner / "n.h").write_text('#include "a/n.h"\n')
        first.write_text('#include "a/n.h"\n' + GOOD)
    return first


def included(rng: random.Random, folder: Path) -> Path:
    """Return a source that includes what is no text."""
    source, header = folder / "m.c", folder / "n.h"
    kind = rng.randrange(5)
    if kind == 0:
        os.mkfifo(header)
    elif kind == 1:
        header.mkdir()
    elif kind == 2:
        header.symlink_to(header)
    elif kind == 3:
        header.write_bytes(rng.randbytes(5000))
    else:
        source.write_text(
            f"#include {rng.choice(['<>', chr(34), '<' + 'x' * 5000 + '>', '__FILE__', 'f(', '<../../..>'])}\n{GOOD}"
        )
        return source
    source.write_text('#include "n.h"\n' + GOOD)
    return source


def options(rng: random.Random, folder: Path) -> dict[str, Any]:
    """Return options that are of the right type and yet make no sense."""
    return rng.choice(
        [
            {
                "flags": [
                    rng.choice(
                        [
                            "-nonesuch",
                            "-c",
                            "-o",
                            "-E",
                            "-fsyntax-only",
                            "-x",
                            "-std=c++20",
                            "@nofile",
                            "-Werror=all",
                            "-M",
                            "-",
                        ]
                    )
                ]
            },
            {"flags": ["-S", "-o", str(folder / "elsewhere")]},
            {"include_dirs": [rng.choice(["", "/nowhere", "\n", "x" * 5000, "-o"])]},
            {
                "defines": {
                    rng.choice(["", "f", "double", "1x", "a b", "return", "f(x)", "\n"]): rng.choice(
                        ["", None, "(", "\n", '"']
                    )
                }
            },
            {"libraries": [rng.choice(["", "nonesuch", "/", "-o", str(folder), "\n", "x.so"])]},
            {"sizes": {rng.choice(["n", "", "x", "[", "n" * 3000]): rng.choice([0, -1, 2**62])}},
            {"inactive": [rng.choice(["", "f", "nonesuch", "\n", "f(", "*"])]},
            {
                "derivatives": {
                    rng.choice(["f", "", "nonesuch"]): rng.choice([[], ["f"], ["a", "b"], ["", "", ""], ["x"] * 9])
                }
            },
            {"engine_options": [rng.choice(["", "-", "nonesuch", "help", "version", "enzyme-print", "o=/dev/null"])]},
            {"engine": rng.choice(["", "/", "/dev/null", "nonesuch", str(folder / "m.c")])},
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
                lambda: np.broadcast_to(
                    np.float64(1.0), rng.choice([(1 << 30, 1 << 29), (1 << 20,) * 2, (1,) * 40, (0, 1 << 59)])
                ),
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
