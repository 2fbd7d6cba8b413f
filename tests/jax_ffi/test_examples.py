"""The examples for JAX run, and none is forgotten."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
LISTED = {"jax_predators/fit.py"}


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


def test_every_example_for_jax_is_listed() -> None:
    """Here and in the README that people read."""
    assert {str(path.relative_to(EXAMPLES)) for path in EXAMPLES.glob("jax_*/*.py")} == LISTED
    readme = (EXAMPLES / "README.md").read_text()
    assert all(f"({name})" in readme for name in LISTED)
