"""The examples for TensorFlow run, and none is forgotten."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
LISTED = {"tf_pendulum/train.py"}


def test_the_pendulum_finds_its_friction(tmp_path: Path) -> None:
    """In a fifth of the time that the example takes by itself."""
    command = [sys.executable, str(EXAMPLES / "tf_pendulum/train.py"), "--epochs", "12", "--out", str(tmp_path)]
    child = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, env={**os.environ})
    assert child.returncode == 0, child.stdout + child.stderr
    found = re.search(r"friction found: (\S+)", child.stdout)
    assert found and 0.1 < float(found[1]) < 0.2
    assert (tmp_path / "tf_pendulum.png").stat().st_size > 10_000


def test_every_example_for_tensorflow_is_listed() -> None:
    """Here and in the README that people read."""
    assert {str(path.relative_to(EXAMPLES)) for path in EXAMPLES.glob("tf_*/*.py")} == LISTED
    readme = (EXAMPLES / "README.md").read_text()
    assert all(f"({name})" in readme for name in LISTED)
