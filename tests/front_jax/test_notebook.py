"""The cell magic ``%%ffgrad`` in IPython itself, whose shell a notebook has: this environment is the one with IPython."""

from __future__ import annotations

import json
from pathlib import Path

from support.fixtures import RunPython

SESSION = r"""
import json

from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance(colors="nocolor")
said = {}


def run(name, cell):
    done = shell.run_cell(cell)
    error = done.error_in_exec or done.error_before_exec
    said[name] = f"{type(error).__name__}: {error}" if error else repr(done.result)


run("extension", "import numpy as np\n%load_ext ffgrad")
NORM = "double norm2(const double *x, int n) {\n  double s = 0;\n  for (int i = 0; i < n; i++) s += FACTOR * x[i] * x[i];\n  return s;\n}\n"
run("cell", "%%ffgrad defines={'FACTOR':'1'} norm2 x[n] -> return\n" + NORM)
run("gradient", "old = norm2\nnorm2.grad(np.arange(3.0)).tolist()")
run("again", "%%ffgrad defines={'FACTOR':'1'} norm2 x[n] -> return\n" + NORM.replace("FACTOR", "2"))
run("new gradient", "norm2.grad(np.arange(3.0)).tolist()")
run("stale", "old.is_stale, norm2.is_stale")
run("C++", "%%ffgrad language=c++ flags=['-std=c++20'] cube x -> return\ndouble cube(double x) { auto f = []<class T>(T y) { return y * y * y; }; return f(x); }")
run("cube", "float(cube.grad(2.0))")
run("mistake", "%%ffgrad bad x -> return\ndouble bad(double x) { return x }")
run("no name", "%%ffgrad\ndouble bad(double x) { return x; }")
with open("local.h", "w") as file:
    file.write("#define FOUR 4\n")
with open("string.h", "w") as file:
    file.write("#error none of the system's\n")
run("header", '%%ffgrad language=cpp four x -> return\n#include "local.h"\n#include <string.h>\ndouble four(double x) { return FOUR * x; }')
run("no package", "%%ffgrad front_end=torch bad x -> return\ndouble bad(double x) { return x; }")
run("no language", "%%ffgrad language=rust bad x -> return\ndouble bad(double x) { return x; }")
shown = []
shell._showtraceback = lambda kind, value, lines: shown.extend(lines)
shell.run_cell("%%ffgrad timeout=0 bad x -> return\ndouble bad(double x) { return x; }")
said["shown"] = shown
run("JAX", "import jax\njax.config.update('jax_enable_x64', True)")
run("in JAX", "%%ffgrad square x -> return\ndouble square(double x) { return x * x; }")
run("slope", "float(jax.jit(jax.grad(square))(3.0))")
with open("said.json", "w") as file:
    json.dump(said, file)
"""


def test_cells_are_functions_of_the_notebook(run_python: RunPython, tmp_path: Path) -> None:
    """Run again they are new functions; mistakes are ffgrad's errors; the framework that is imported is the one used."""
    run_python(SESSION)
    said = json.loads((tmp_path / "said.json").read_text())
    assert said["cell"] == "<enzyme norm2: x[n] -> return>"
    assert (said["gradient"], said["new gradient"]) == ("[0.0, 2.0, 4.0]", "[0.0, 4.0, 8.0]")
    assert (said["stale"], said["cube"], said["slope"]) == ("(True, False)", "12.0", "6.0")
    assert said["mistake"].startswith("CompileError: `bad.c` does not compile: expected ';'")
    assert said["no name"].startswith("ArgumentError: name the function that the cell defines")
    assert said["header"] == "<enzyme four: x -> return>"
    assert said["no package"].startswith(
        "ArgumentError: front_end=torch needs the package torch, which is not installed"
    )
    assert said["no language"].startswith("ArgumentError: `rust` is no language")
    # The message alone: no frame of ffgrad or IPython.
    told = "ArgumentError: options of enzyme(): `timeout` is 0; it takes a whole number of seconds, 1 or more"
    assert said["shown"] == [told]
    assert "error" not in (said["extension"] + said["again"] + said["C++"] + said["JAX"] + said["in JAX"]).lower()
