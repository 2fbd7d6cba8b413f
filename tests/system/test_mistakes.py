"""What people get wrong most often, and what they are told: all messages in one file, ``goldens/mistakes.txt``, to be read as a whole.

``FFGRAD_UPDATE_GOLDENS=1`` writes it anew.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ffgrad
import ffgrad.torch
import numpy as np
import pytest
import torch
from ffgrad.numpy import enzyme
from support.goldens import GOLDENS, UPDATE, masked

SOURCES = {
    "cube.c": "void cube(const double* x, int n, double* y) { for (int i = 0; i < n; i++) y[i] = x[i] * x[i] * x[i]; }\n",
    "broken.c": "void cube(const double* x, int n, double* y) { y[0] = x[0] }\n",
    "header.c": '#include "mesh.h"\nvoid f(double* x) {}\n',
    "scale.cpp": "template <class T> void scale(const T* x, int n, T* y) { for (int i = 0; i < n; i++) y[i] = 2 * x[i]; }\n",
    "over.cpp": "double f(double x) { return x; }\ndouble f(double x, double y) { return x * y; }\n",
    "matvec.c": """\
void matvec(const double* A, const double* x, int m, int n, double* y) {
  for (int i = 0; i < m; i++) { y[i] = 0; for (int j = 0; j < n; j++) y[i] += A[i * n + j] * x[j]; }
}
""",
    "mesh.c": "struct mesh { double* x; int* next; };\ndouble area(const struct mesh* m, int n) { return m->x[n]; }\n",
    "reads.c": """\
#include <stdio.h>
double reads(const double* x, int n) {
  double k = 1, s = 0;
  FILE* file = fopen("factor.txt", "r");
  if (file) { fscanf(file, "%lf", &k); fclose(file); }
  for (int i = 0; i < n; i++) s += k * x[i];
  return s;
}
""",
    "missing.c": "double outside(double);\ndouble calls(double x) { return outside(x) * x; }\n",
    "random.c": "#include <stdlib.h>\ndouble noisy(double x) { return x * rand(); }\n",
    "chaos.c": "double chaos(double x) { for (int i = 0; i < 300; i++) x = 3.99 * x * (1 - x); return x; }\n",
    "long.c": "void cube(const double* x, long n, double* y) { for (long i = 0; i < n; i++) y[i] = x[i] * x[i] * x[i]; }\n",
    "grid.c": """\
double total(int n, int m, const double u[n][m]) {
  double sum = 0;
  for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) sum += u[i][j] * u[i][j];
  return sum;
}
""",
    "past.c": "double past(const double* x, int n) { double s = 0; for (int i = 0; i <= n; i++) s += x[i] * x[i]; return s; }\n",
    "stack.c": """\
double stack(const double* x, int n) {
  double w[40000000], sum = 0;
  for (int i = 0; i < 40000000; i++) w[i] = x[i % n] * i;
  for (int i = 0; i < 40000000; i++) sum += w[i];
  return sum;
}
""",
    "throws.cpp": '#include <stdexcept>\ndouble f(double x) { if (x < 0) throw std::domain_error("negative"); return x; }\n',
}

X = np.array([0.3, 0.4, 0.5, 0.6])
CUBE = "x[n] -> y[n]"
Mistake = Callable[[Callable[..., Any]], Any]

MISTAKES: dict[str, Mistake] = {
    "a file that does not exist": lambda open: open("cbue.c", "cube"),
    "a source that does not compile": lambda open: open("broken.c", "cube"),
    "a header that is not found": lambda open: open("header.c", "f"),
    "a function's name, mistyped": lambda open: open("cube.c", "cubed"),
    "a template without its arguments": lambda open: open("scale.cpp", "scale"),
    "one name, two functions": lambda open: open("over.cpp", "f"),
    "two integers and no signature": lambda open: open("matvec.c", "matvec"),
    "a signature with a mistake": lambda open: open("cube.c", "cube", "x[n -> y[n]"),
    "a signature with another name": lambda open: open("cube.c", "cube", "z[n] -> y[n]"),
    "an output that is an input": lambda open: open("cube.c", "cube", "y[n] -> x[n]"),
    "a pointer to a structure of pointers": lambda open: open("mesh.c", "area"),
    "too few inputs": lambda open: open("matvec.c", "matvec", "A[m,n], x[n] -> y[m]")(np.ones((2, 4))),
    "single precision for double": lambda open: open("cube.c", "cube", CUBE)(X.astype(np.float32)),
    "integers for numbers": lambda open: open("cube.c", "cube", CUBE)(np.arange(3)),
    "a list for an array": lambda open: open("cube.c", "cube", CUBE)([1.0, 2.0]),
    "shapes that do not fit": lambda open: open("matvec.c", "matvec", "A[m,n], x[n] -> y[m]")(np.ones((2, 3)), X),
    "a masked array": lambda open: open("cube.c", "cube", CUBE)(np.ma.masked_array(X, mask=[0, 1, 0, 0])),
    "an option, mistyped": lambda open: open("cube.c", "cube", CUBE, verfy="off"),
    "a value that an option has not": lambda open: open("cube.c", "cube", CUBE, math="fats"),
    "flags in one text": lambda open: open("cube.c", "cube", CUBE, flags="-O2"),
    "a number of threads below zero": lambda open: open("cube.c", "cube", CUBE, threads=-1),
    "a library that is not there": lambda open: open("cube.c", "cube", CUBE, libraries=["nonesuch"]),
    "a function without its source": lambda open: open("missing.c", "calls").grad(1.0),
    "a function that reads a file": lambda open: open("reads.c", "reads", "x[n] -> return").grad(X),
    "a function of random numbers": lambda open: open("random.c", "noisy").grad(2.0),
    "chaos": lambda open: open("chaos.c", "chaos").grad(0.3),
    "a matrix of rows of a variable length": lambda open: open("grid.c", "total"),
    "an index behind the array": lambda open: open("past.c", "past", "x[n] -> return").grad(X),
    "a local array larger than the stack": lambda open: open("stack.c", "stack", "x[n] -> return").grad(X),
    "an exception of C++": lambda open: open("throws.cpp", "f")(-1.0),
    "a name that no input has": lambda open: open("matvec.c", "matvec", "A[m,n], x[n] -> y[m]")(A=np.ones((2, 4)), b=X),
    "an input by place and by name": lambda open: open("cube.c", "cube", CUBE)(X, x=X),
    "a gradient of several numbers": lambda open: open("cube.c", "cube", CUBE).grad(X),
    "an array that is changed before the pullback": lambda open: changed(open("cube.c", "cube", CUBE)),
    "more numbers than int can count": lambda open: open("cube.c", "cube", CUBE)(np.broadcast_to(X[0], 3_000_000_000)),
    "more numbers than there is memory for": lambda open: open("long.c", "cube", CUBE)(
        np.broadcast_to(X[0], 50_000_000_000)
    ),
    "PyTorch: bfloat16 outside of autocast": lambda _: ffgrad.torch.enzyme("cube.c", "cube", CUBE)(
        torch.ones(3).bfloat16()
    ),
    "PyTorch: a sparse tensor": lambda _: ffgrad.torch.enzyme("cube.c", "cube", CUBE)(
        torch.eye(3, dtype=torch.float64).to_sparse()
    ),
    "the source itself in place of its path": lambda open: open("double f(double x) { return x; }", "f"),
    "an input's value as an option": lambda open: open("cube.c", "cube", CUBE, constants={"x": 1.0}),
    "a gradient by what is no input": lambda open: open("cube.c", "cube", CUBE).jacobian(X, argnums="z"),
    "PyTorch: a trainable input that there is not": lambda _: ffgrad.torch.EnzymeModule(
        "cube.c", "cube", CUBE, parameters={"w": 1.0}
    ),
}


def changed(f: Any) -> None:
    """Write to an array between a call and its pullback."""
    x = X.copy()
    _, pullback = f.vjp(x)
    x[0] = 7
    pullback(X)


def test_there_are_twenty_five() -> None:
    assert len(MISTAKES) >= 25


def test_every_typical_mistake_is_told_from_the_others(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what to do next."""
    monkeypatch.chdir(tmp_path)
    for name, text in SOURCES.items():
        Path(name).write_text(text)
    told = []
    for title, mistake in MISTAKES.items():
        with warnings.catch_warnings(), pytest.raises((ffgrad.Error, TypeError, ValueError)) as caught:
            warnings.simplefilter("ignore")
            mistake(enzyme)
        told.append(f"== {title}\n{type(caught.value).__name__}: {caught.value}\n")
    # Rounding, which chaos makes large, is the processor's.
    text = re.sub(r"-?\d\.\d+e-?\d+", "<number>", masked("\n".join(told), tmp_path))
    golden = GOLDENS / "mistakes.txt"
    if UPDATE:
        golden.write_text(text)
    assert text == golden.read_text()


def test_a_template_is_found_by_a_relative_path(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its instance is compiled from another folder."""
    monkeypatch.chdir(tmp_path)
    Path("scale.cpp").write_text(SOURCES["scale.cpp"])
    assert enzyme("scale.cpp", "scale<double>", CUBE)(X).tolist() == (2 * X).tolist()
