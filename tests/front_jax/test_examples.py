"""The examples for JAX and the code in its document run, and none is forgotten."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.documents import program_of
from support.fixtures import RunPython

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
LISTED = {"jax_predators/fit.py", "jax_warm_rain/calibrate.py"}


def test_the_rates_of_the_predators_are_found(tmp_path: Path) -> None:
    """Within four of its own standard errors, in fewer steps than the example takes by itself."""
    command = [sys.executable, str(EXAMPLES / "jax_predators/fit.py"), "--steps", "300", "--out", str(tmp_path)]
    child = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, env={**os.environ})
    assert child.returncode == 0, child.stdout + child.stderr
    found = re.findall(r"(\S+) \+- (\S+)   \(made with (\S+)\)", child.stdout)
    assert len(found) == 4
    for rate, error, truth in found:
        assert abs(float(rate) - float(truth)) < 4 * float(error), child.stdout
    assert (tmp_path / "jax_predators.png").stat().st_size > 10_000


def test_constants_of_the_rain_are_calibrated(tmp_path: Path) -> None:
    """The misfit comes down to the noise."""
    command = [sys.executable, str(EXAMPLES / "jax_warm_rain/calibrate.py")]
    child = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, env={**os.environ})
    assert child.returncode == 0, child.stdout + child.stderr
    before, after = re.search(r"misfit (\S+) -> (\S+),", child.stdout).groups()
    assert float(after) < 1.3 < float(before), child.stdout


def test_the_code_of_the_document_runs(tmp_path: Path, run_python: RunPython) -> None:
    """In an empty folder, as a reader would try it."""
    said = run_python(program_of("jax.md", tmp_path)).stdout
    assert [float(number) for number in re.findall(r"-?\d\S*\d", said)] == pytest.approx([0.96, 0.48, -1.12])


def test_a_model_of_numpyro_is_sampled(tmp_path: Path, run_python: RunPython) -> None:
    """The block of the document that needs NumPyro, which is no requirement: only where it is installed."""
    pytest.importorskip("numpyro")
    program = program_of("jax.md", tmp_path, {"python", "py"})
    means = run_python(program + "\nprint(*(mcmc.get_samples()[name].mean() for name in 'akb'))").stdout.splitlines()[
        -1
    ]
    assert [float(mean) for mean in means.split()] == pytest.approx([80, 0.59, 5.4], rel=0.03)


def test_every_example_for_jax_is_listed() -> None:
    """Here and in the README that people read."""
    assert {str(path.relative_to(EXAMPLES)) for path in EXAMPLES.glob("jax_*/*.py")} == LISTED
    readme = (EXAMPLES / "README.md").read_text()
    assert all(f"({name})" in readme for name in LISTED)
