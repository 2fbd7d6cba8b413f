"""Tries the wheel with the oldest and the newest release of each framework that is claimed, and writes the table ``docs/reference/matrix.md``.

    python scripts/matrix.py                every row, about 12 GB to download in all
    python scripts/matrix.py numpy jax      those of some frameworks

``make matrix`` builds the wheel and calls this. Each row is an environment of its own, which goes afterwards; the compilers are those
that this machine has. Rows that are not tried keep their last result and its date.
"""

from __future__ import annotations

import datetime
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "docs" / "reference" / "matrix.md"
HEAD = """\
# What the wheel has been tried with

Written by `make matrix` ([scripts/matrix.py](../../scripts/matrix.py)): the wheel in an environment with nothing but the framework, its oldest
release that is claimed and the newest; value, gradient, second derivative and a batch of a C function.

| framework | which | release | Python | result | date |
|---|---|---|---|---|---|
"""

SOURCE = "void cube(const double* x, int n, double* y) { for (int i = 0; i < n; i++) y[i] = x[i] * x[i] * x[i]; }\n"
PROGRAMS = {
    "numpy": """
import numpy as np
from ffgrad.numpy import enzyme
f = enzyme("cube.c", "cube", "x[...,n] -> y[...,n]")
x = np.array([1.0, 2.0])
y, pull = f.vjp(x)
assert pull(np.ones(2))[0].tolist() == [3, 12] and f(np.ones((3, 2))).shape == (3, 2)
assert np.allclose(f.hvp((x,), (np.ones(2),), np.ones(2))[0], [6, 12])
version = np.__version__
""",
    "jax": """
import jax
jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp
from ffgrad.jax import enzyme
f = enzyme("cube.c", "cube", "x[...,n] -> y[...,n]")
loss = lambda x: f(x).sum()
x = jnp.array([1.0, 2.0])
assert jax.jit(jax.grad(loss))(x).tolist() == [3, 12] and jax.vmap(jax.grad(loss))(jnp.ones((3, 2))).shape == (3, 2)
assert jnp.allclose(jnp.diag(jax.hessian(loss)(x)), jnp.array([6.0, 12.0]))
version = jax.__version__
""",
    "tensorflow": """
import tensorflow as tf
from ffgrad.tf import enzyme
f = enzyme("cube.c", "cube", "x[...,n] -> y[...,n]")
x = tf.Variable([1.0, 2.0], dtype=tf.float64)
with tf.GradientTape() as outer:
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(f(x))
    g = tape.gradient(y, x)
assert g.numpy().tolist() == [3, 12] and outer.gradient(g, x).numpy().tolist() == [6, 12]
assert tf.function(f)(tf.ones((3, 2), tf.float64)).shape == (3, 2)
version = tf.__version__
""",
    "torch": """
import torch
from ffgrad.torch import enzyme
f = enzyme("cube.c", "cube", "x[...,n] -> y[...,n]")
x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
(g,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
assert g.tolist() == [3, 12] and torch.autograd.grad(g.sum(), x)[0].tolist() == [6, 12]
assert torch.func.vmap(torch.func.grad(lambda x: f(x).sum()))(torch.ones(3, 2, dtype=torch.float64)).shape == (3, 2)
version = torch.__version__
""",
}
# Framework, what pip is asked for, Pythons of which the first that the machine has is taken.
ROWS = [
    ("numpy", "numpy==1.26.0", ("3.10", "3.11", "3.12")),
    ("numpy", "numpy", ("3.14", "3.13", "3.12", "3.11")),
    ("jax", "jax==0.5.0", ("3.10", "3.11", "3.12")),
    ("jax", "jax", ("3.14", "3.13", "3.12", "3.11")),
    ("tensorflow", "tensorflow-cpu==2.21.0", ("3.10", "3.11", "3.12")),
    ("tensorflow", "tensorflow-cpu", ("3.13", "3.12", "3.11")),
    ("torch", "torch==2.10.0", ("3.10", "3.11", "3.12")),
    ("torch", "torch", ("3.14", "3.13", "3.12", "3.11")),
]


def interpreter(versions: tuple[str, ...]) -> str | None:
    """Return the first Python of these that runs here."""
    for version in versions:
        for found in (shutil.which(f"python{version}"), *Path.home().glob(f".pyenv/versions/{version}.*/bin/python")):
            if found and subprocess.run([found, "-c", "import venv"], capture_output=True).returncode == 0:
                return str(found)
    return None


def attempt(framework: str, requirement: str, python: str, wheel: Path) -> tuple[str, str]:
    """Return the release that was tried, and the result."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        (place / "cube.c").write_text(SOURCE)
        subprocess.run([python, "-m", "venv", place / "venv"], check=True)
        ours = place / "venv" / "bin" / "python"
        pip = [
            ours,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--no-cache-dir",
            wheel,
            requirement,
        ]
        installed = subprocess.run(pip, capture_output=True, text=True)
        if installed.returncode != 0:
            return requirement, "pip: " + installed.stderr.strip().splitlines()[-1]
        env = {**os.environ, "FFGRAD_CACHE_DIR": str(place / "cache"), "TF_CPP_MIN_LOG_LEVEL": "3"}
        env.pop("PYTHONPATH", None)
        code = PROGRAMS[framework] + "print('version', version)\n"
        done = subprocess.run([ours, "-c", code], cwd=place, env=env, capture_output=True, text=True)
        if done.returncode != 0:
            return requirement, done.stderr.strip().splitlines()[-1]
        return done.stdout.split()[-1], "passes"


def main() -> None:
    """Try the rows that are asked for; keep the others' lines."""
    (wheel,) = (ROOT / "target" / "wheels").glob("*.whl")
    lines = TABLE.read_text().splitlines() if TABLE.is_file() else []
    before = {tuple(line.split(" | ")[:2]): line for line in lines if line.startswith("| ")}
    failed = False
    for framework, requirement, versions in ROWS:
        which = "oldest" if "==" in requirement else "newest"
        key = (f"| {framework}", which)
        if sys.argv[1:] and framework not in sys.argv[1:]:
            continue
        python = interpreter(versions)
        if python is None:
            print(f"{framework}, {which}: skipped, none of Python {', '.join(versions)} is here", file=sys.stderr)
            continue
        release, result = attempt(framework, requirement, python, wheel)
        version = subprocess.run(
            [python, "-c", "import platform; print(platform.python_version())"], capture_output=True, text=True
        )
        today = datetime.date.today()
        before[key] = f"| {framework} | {which} | {release} | {version.stdout.strip()} | {result} | {today} |"
        print(before[key], file=sys.stderr)
        failed |= result != "passes"
    order = [(f"| {framework}", "oldest" if "==" in requirement else "newest") for framework, requirement, _ in ROWS]
    TABLE.write_text(HEAD + "".join(f"{before[key]}\n" for key in order if key in before))
    sys.exit(failed)


if __name__ == "__main__":
    main()
