"""Every example runs, and none is forgotten."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

# Each example with arguments that keep it short, and words that it must print. `{out}` is a temporary folder.
TABLE: dict[str, tuple[list[str], str]] = {
    "quickstart_numpy.py": ([], "largest difference from the closed form"),
    "quickstart.py": ([], "largest difference from the closed form"),
    "lynx/fit.py": (["--steps", "20", "--out", "{out}"], "rates a year: 0.5"),
    "deblur/deblur.py": (["--steps", "25", "--out", "{out}"], "signal to noise: 23.4 dB -> 2"),
    "soap_film/film.py": (["--size", "10", "--out", "{out}"], "Newton-CG area 1.571426"),
    "initial_state/fit.py": (
        ["--size", "16", "--steps", "50", "--iterations", "5", "--out", "{out}"],
        "20 snapshots: 1.",
    ),
    "gmm/fit_wine.py": (["--steps", "5", "--out", "{out}"], "log-likelihood per bottle"),
    "warm_rain/calibrate.py": (["--steps", "4"], "mean squared misfit"),
    "cuda_diffusion/invert.py": (["--size", "18", "--steps", "2", "--out", "{out}"], "mean error of the map"),
}


@pytest.mark.parametrize("name", TABLE)
def test_an_example_runs(name: str, tmp_path: Path) -> None:
    """In a process of its own, from another folder."""
    arguments, words = TABLE[name]
    filled = [argument.format(out=tmp_path) for argument in arguments]
    command = [sys.executable, str(EXAMPLES / name), *filled]
    env = {**os.environ, "MPLBACKEND": "Agg"}
    child = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300)
    assert child.returncode == 0, child.stdout + child.stderr
    assert words in child.stdout


def test_every_example_is_listed() -> None:
    """In the table above and in the README that people read."""
    # Those for TensorFlow and JAX need other environments: the test_examples.py of tests/front_tf and tests/front_jax list them.
    # That for Fortran needs flang: tests/fortran/test_fortran.py runs it.
    scripts = {
        name
        for path in EXAMPLES.rglob("*.py")
        if not (name := str(path.relative_to(EXAMPLES))).startswith(("tf_", "jax_", "fortran/"))
    }
    # These need more than one process: test_parallel.py runs them.
    assert scripts == set(TABLE) | {"mpi/heat.py", "ddp/fit.py"}
    readme = (EXAMPLES / "README.md").read_text()
    sources = [path for path in EXAMPLES.rglob("*") if path.suffix in {".py", ".c", ".cpp", ".cu"}]
    forgotten = [str(path.relative_to(EXAMPLES)) for path in sources if f"({path.relative_to(EXAMPLES)})" not in readme]
    assert not forgotten
