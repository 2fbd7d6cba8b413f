"""What all tests of the TensorFlow front end share: a private cache, seeds, sources on the spot, child processes.

Neighbours: ``../cases`` (the conformance table). Run with ``make test-tf``, in an environment without torch.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from ffgrad.tf import Enzyme, enzyme

Write = Callable[..., Path]
Compile = Callable[..., Enzyme]
RunPython = Callable[..., "subprocess.CompletedProcess[str]"]

_private_cache: str | None = None


def pytest_configure(config: pytest.Config) -> None:
    """Give the session a cache of its own, unless the caller chose one."""
    global _private_cache
    if not os.environ.get("FFGRAD_CACHE_DIR"):
        _private_cache = tempfile.mkdtemp(prefix="ffgrad-tests-")
        os.environ["FFGRAD_CACHE_DIR"] = _private_cache


def pytest_unconfigure() -> None:
    """Remove what :func:`pytest_configure` made."""
    if _private_cache is not None:
        shutil.rmtree(_private_cache, ignore_errors=True)


@pytest.fixture(autouse=True)
def _seeds() -> None:
    tf.keras.utils.set_random_seed(0)
    np.random.seed(0)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return ``write(text, name="f.c")``: a source file with this text."""

    def write(text: str, name: str = "f.c") -> Path:
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


@pytest.fixture
def compile_source(write: Write) -> Compile:
    """Return ``compile_source(text, function, signature, name="f.c", **options)``: the text as an operation."""

    def compile_source(
        text: str, function: str, signature: str | None = None, name: str = "f.c", **options: object
    ) -> Enzyme:
        return enzyme(write(text, name), function, signature, **options)  # type: ignore[arg-type]

    return compile_source


@pytest.fixture
def run_python(tmp_path: Path) -> RunPython:
    """Return ``run_python(code)``: the code in a process of its own, output captured as text."""

    def run_python(code: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            pytest.fail(f"child process ended with {done.returncode}\n{done.stdout}\n{done.stderr}", pytrace=False)
        return done

    return run_python


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how much of the conformance table is differentiated right, and what is refused."""
    table = sys.modules.get("test_conformance")
    if table is None or not table.checked:
        return
    terminalreporter.section("conformance table in TensorFlow")
    for mode in table.MODES:
        count = sum(1 for _, m in table.checked if m == mode)
        terminalreporter.write_line(f"{mode}: {count} of {len(table.EXACT)} programs pass tf.test.compute_gradient")
    if table.refused:
        terminalreporter.write_line(f"refused with an UnimplementedError: {', '.join(sorted(table.refused))}")
