"""Long sessions: sources edited while Python runs, operations that travel to other processes, cells of a notebook."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ffgrad
import numpy as np
import pytest
from ffgrad.numpy import Enzyme, enzyme

TIMES = """
#include "factor.h"
void scaled(const double* x, int n, double* y) { for (int i = 0; i < n; i++) y[i] = FACTOR * x[i]; }
"""


@pytest.fixture
def source(cache: Path, tmp_path: Path) -> Path:
    """Return a source with a header of its own."""
    (tmp_path / "factor.h").write_text("#define FACTOR 2\n")
    path = tmp_path / "scaled.c"
    path.write_text(TIMES)
    return path


def slope(f: Enzyme) -> float:
    """Return the derivative at one."""
    y, pullback = f.vjp(np.ones(1))
    (gradient,) = pullback(np.ones_like(y))
    return float(gradient[0])


@pytest.mark.parametrize("edited", ["scaled.c", "factor.h"])
def test_a_source_that_is_opened_again_gives_the_new_code(edited: str, source: Path) -> None:
    """An open operation keeps the old one, derivatives that were not built yet included, and says so when asked."""
    old = enzyme(source, "scaled")
    assert not old.is_stale
    file = source.with_name(edited)
    file.write_text(file.read_text().replace("FACTOR *", "3 *").replace("FACTOR 2", "FACTOR 3"))
    assert old.is_stale
    new = enzyme(source, "scaled")
    assert (slope(old), slope(new)) == (2, 3)
    assert old.is_stale and not new.is_stale
    # As it was: the old code is the right one again.
    file.write_text(file.read_text().replace("3 *", "FACTOR *").replace("FACTOR 3", "FACTOR 2"))
    assert not old.is_stale and new.is_stale


def test_a_source_that_no_longer_compiles_makes_stale_too(source: Path) -> None:
    f = enzyme(source, "scaled")
    source.write_text("void scaled(")
    assert f.is_stale and slope(f) == 2


def test_an_operation_is_pickled_and_copied(source: Path) -> None:
    """By what it was made from: a process of a pool opens it again."""
    f = enzyme(source, "scaled", "x[n] -> y[n]", math="strict")
    again = pickle.loads(pickle.dumps(f))
    assert again.signature == f.signature and slope(again) == 2
    assert copy.deepcopy(f) is f and copy.copy(f) is f
    text = pickle.dumps(f)
    source.write_text(source.read_text().replace("FACTOR *", "5 *"))
    with pytest.warns(UserWarning, match="scaled.c changed since `scaled` was pickled"):
        assert slope(pickle.loads(text)) == 5


def test_a_pool_of_processes_takes_an_operation(source: Path, tmp_path: Path) -> None:
    """One that is started by `spawn`, as on every system; the operation itself and a method of it."""
    script = tmp_path / "pool.py"
    script.write_text(
        f"""
import multiprocessing
import numpy as np
from ffgrad.numpy import enzyme

if __name__ == "__main__":
    f = enzyme({str(source)!r}, "scaled")
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        print(sum(float(y[0]) for y in pool.map(f, [np.full(1, float(i)) for i in range(5)])))
        print(pool.apply(f.jvp, ((np.ones(1),), (np.ones(1),)))[1])
"""
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["20.0", "[2.]"], done.stderr


@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading"])
def test_joblib_takes_an_operation(backend: str, source: Path) -> None:
    """joblib's backends, and its digest: the same function is the same key of its memory."""
    joblib = pytest.importorskip("joblib", reason="joblib is not installed")
    f = enzyme(source, "scaled")
    given = [((np.full(1, float(i)),), (np.ones(1),)) for i in range(4)]
    results = joblib.Parallel(2, backend=backend)(joblib.delayed(f.jvp)(*each) for each in given)
    assert [(float(y[0]), float(dy[0])) for y, dy in results] == [(2.0 * i, 2.0) for i in range(4)]
    assert joblib.hash(f) == joblib.hash(enzyme(source, "scaled")) != joblib.hash(enzyme(source, "scaled", math="fast"))


def test_a_masked_array_is_refused(source: Path) -> None:
    """Its masked elements are numbers that nobody may read."""
    f = enzyme(source, "scaled")
    masked = np.ma.masked_array([1.0, 2.0], mask=[False, True])
    with pytest.raises(ffgrad.DtypeError, match=r"`x` is a masked array.*\n.*filled") as caught:
        f(masked)
    assert caught.value.code == "dtype"
    assert f(masked.filled(0.0)).tolist() == [2, 0]


class Shell:
    """What IPython's shell is to an extension."""

    def __init__(self) -> None:
        self.user_ns: dict[str, Any] = {}
        self.magics: dict[str, Callable[[str, str], Any]] = {}

    def register_magic_function(self, function: Callable[[str, str], Any], kind: str, name: str) -> None:
        assert kind == "cell"
        self.magics[name] = function

    def run(self, line: str, cell: str) -> Any:
        return self.magics["ffgrad"](line, cell)


@pytest.fixture
def shell(cache: Path) -> Shell:
    """Return a shell after ``%load_ext ffgrad``."""
    shell = Shell()
    ffgrad.load_ipython_extension(shell)
    return shell


def test_a_cell_of_a_notebook_becomes_a_function(shell: Shell) -> None:
    """Run again with another text it is the new one; the old one stays what it was."""
    cell = (
        "double power(const double* x, int n) { double s = 0; for (int i = 0; i < n; i++) s += x[i] * x[i]; return s; }"
    )
    old = shell.run("front_end=numpy power x[n] -> return", cell)
    assert shell.user_ns["power"] is old and old.grad(np.full(2, 3.0)).tolist() == [6, 6]
    shell.run("front_end=numpy power x[n] -> return", cell.replace("x[i] * x[i]", "x[i] * x[i] * x[i]"))
    assert shell.user_ns["power"].grad(np.full(2, 3.0)).tolist() == [27, 27]
    assert old.is_stale and old(np.full(2, 3.0)) == 18


def test_a_cell_takes_a_language_and_options(shell: Shell) -> None:
    """By name; a bare word is a text."""
    shell.run(
        "language=c++ front_end=numpy math='strict' flags=['-std=c++20'] ns::twice x[n] -> y[n]",
        "namespace ns { void twice(const double* x, int n, double* y) { for (int i = 0; i < n; i++) y[i] = 2 * x[i]; } }",
    )
    twice = shell.user_ns["twice"]
    assert twice.manifest["math"] == "strict" and twice(np.ones(1)).tolist() == [2]


@pytest.mark.parametrize("quote", ["'", '"'])
def test_the_signature_of_a_cell_may_be_in_quotes(quote: str, shell: Shell) -> None:
    """As it would be in a call of Python."""
    cell = "void twice(const double* x, int n, double* y) { for (int i = 0; i < n; i++) y[i] = 2 * x[i]; }"
    shell.run(f"front_end=numpy twice {quote}x[n] -> y[n]{quote}", cell)
    assert shell.user_ns["twice"].signature == "x[n] -> y[n]"


@pytest.mark.parametrize(
    ("line", "words"),
    [("", "name the function"), ("--nope", "no name of a function"),
     ("math=[ f", "no value for math"), ("language=perl f", "no language"), ("front_end=mxnet f", "no front end")],
)  # fmt: skip
def test_a_line_that_cannot_be_read_is_refused_with_the_usage(line: str, words: str, shell: Shell) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        shell.run(line, "")
    assert "%%ffgrad [language=c]" in str(caught.value)


def test_inputs_are_given_by_name_in_calls_and_derivatives(cache: Path, tmp_path: Path) -> None:
    """``self`` is a name like any other."""
    source = tmp_path / "p.c"
    source.write_text("double p(const double* self, double rate, int n) { return rate * self[0] * self[n - 1]; }")
    f = enzyme(source, "p", "self[n], rate -> return")
    x = np.array([2.0, 5.0])
    assert f(rate=3.0, self=x) == f(x, rate=3.0) == f(x, 3.0) == 30
    assert f.grad(self=x, rate=3.0, argnums=1) == 10
    assert f.value_and_grad(x, rate=3.0)[1].tolist() == f.jacobian(x, rate=3.0).tolist() == [15, 6]
    assert f.hessian(rate=3.0, self=x).tolist() == [[0, 3], [3, 0]]
    assert f.vjp(rate=3.0, self=x)[1](1.0)[1] == 10
    with pytest.raises(ffgrad.SignatureError, match="there is no input `x`; `self` is missing") as caught:
        f(x=x, rate=1.0)
    assert caught.value.code == "arity"
