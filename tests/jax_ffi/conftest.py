"""What all tests of the JAX front end share: a private cache, four host devices, sources on the spot, child processes.

Neighbours: ``../cases`` (the conformance table). Run with ``make test-jax``, in an environment of its own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

# Before JAX is imported, which reads it then.
os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=4"

import jax
import numpy as np
import pytest

jax.config.update("jax_enable_x64", True)

from ffgrad.jax import Enzyme, enzyme  # noqa: E402

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
    """Return ``run_python(code, **environment)``: the code in a process of its own, output captured as text."""

    def run_python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", code]
        env = {**os.environ, "JAX_ENABLE_X64": "1", **environment}
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, env=env)
        if done.returncode != 0:
            pytest.fail(f"child process ended with {done.returncode}\n{done.stdout}\n{done.stderr}", pytrace=False)
        return done

    return run_python


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how much of the conformance table is differentiated right, and what is refused."""
    table = sys.modules.get("test_conformance")
    if table is None or not table.checked:
        return
    terminalreporter.section("conformance table in JAX")
    terminalreporter.write_line(
        f"{len(table.checked)} of {len(table.CASES)} programs pass check_grads(order=2, both modes)"
    )
    for order, names in table.refused.items():
        if names:
            terminalreporter.write_line(f"derivatives of order {order} refused: {', '.join(sorted(names))}")
