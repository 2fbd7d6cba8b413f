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
    "lens/design.py": (["--steps", "40", "--out", "{out}"], "mean radius of a spot: 959 ->"),
    "argon/simulate.py": (["--atoms", "49", "--steps", "1500", "--out", "{out}"], "the total varies by"),
    "exoplanet/sample.py": (["--samples", "200", "--out", "{out}"], "(made with 58.000)"),
    "robot_arm/reach.py": (["--poses", "20", "--out", "{out}"], "the hand is 1 mm from the goal"),
    "asteroid/determine.py": (["--nights", "10", "--out", "{out}"], "standard deviations in six dimensions"),
    "closure/train.py": (["--epochs", "4", "--out", "{out}"], "error 0.0073 without the network"),
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
    # Those for Fortran need flang: tests/fortran/test_fortran.py runs them.
    scripts = {
        name
        for path in EXAMPLES.rglob("*.py")
        if not (name := str(path.relative_to(EXAMPLES))).startswith(("tf_", "jax_", "fortran/", "aquifer/"))
    }
    # These need more than one process: test_parallel.py runs them.
    assert scripts == set(TABLE) | {"mpi/heat.py", "ddp/fit.py"}
    readme = (EXAMPLES / "README.md").read_text()
    sources = [path for path in EXAMPLES.rglob("*") if path.suffix in {".py", ".c", ".cpp", ".cu", ".f", ".f90"}]
    forgotten = [str(path.relative_to(EXAMPLES)) for path in sources if f"({path.relative_to(EXAMPLES)})" not in readme]
    assert not forgotten
    # And each is in the gallery of the site.
    shown = "".join(path.read_text() for path in (EXAMPLES.parent / "docs/gallery").glob("*.md"))
    everything = [str(path.relative_to(EXAMPLES)) for path in EXAMPLES.rglob("*.py")]
    assert not [name for name in everything if f"{{example}} {name}\n" not in shown]
