"""What the tests of every front end in Python share: a private cache, sources written on the spot, child processes.

``../conftest.py`` gives the fixtures to every folder; a front end's own ``conftest.py`` adds ``compile_source`` by :func:`compiling`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

# A fixture ``compile_source``: text, function, signature and options in, the operation out.
Compile = Callable[..., Any]
Write = Callable[..., Path]
RunPython = Callable[..., "subprocess.CompletedProcess[str]"]

_private_cache: str | None = None


def pytest_configure(config: pytest.Config) -> None:
    """Give the session a cache of its own, unless the caller chose one."""
    global _private_cache
    config.addinivalue_line("markers", "slow: takes more than 20 seconds")
    if not os.environ.get("FFGRAD_CACHE_DIR"):
        _private_cache = tempfile.mkdtemp(prefix="ffgrad-tests-")
        os.environ["FFGRAD_CACHE_DIR"] = _private_cache


def pytest_unconfigure() -> None:
    """Remove what :func:`pytest_configure` made."""
    if _private_cache is not None:
        shutil.rmtree(_private_cache, ignore_errors=True)


@pytest.fixture(autouse=True)
def numpy_seed() -> None:
    """Draw the same numbers in every run."""
    np.random.seed(0)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return ``write(text, name="f.c")``: a source file with this text."""

    def write(text: str, name: str = "f.c") -> Path:
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def compiling(enzyme: Callable[..., Any]) -> Any:
    """Return the fixture ``compile_source(text, function, signature, name="f.c", **options)``: the text as an operation."""

    @pytest.fixture
    def compile_source(write: Write) -> Callable[..., Any]:
        def compile_source(
            text: str, function: str, signature: str | None = None, name: str = "f.c", **options: object
        ) -> Any:
            return enzyme(write(text, name), function, signature, **options)

        return compile_source

    return compile_source


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Use an empty cache for this test, in this process and its children."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("FFGRAD_CACHE_DIR", str(folder))
    yield folder


@pytest.fixture
def run_python(tmp_path: Path) -> RunPython:
    """Return ``run_python(code, env={}, check=True)``: the code in a process of its own, output captured as text.

    ``env`` is laid over this process's; a value of ``None`` removes the variable.
    """

    def run_python(
        code: str, env: Mapping[str, str | None] = {}, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        return start_python(code, env, tmp_path).finish(check)

    return run_python


class Running:
    """A child process; ``finish`` waits for it."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def finish(self, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Wait, and fail with the child's own words where it failed."""
        out, err = self.process.communicate(timeout=300)
        if check and self.process.returncode != 0:
            pytest.fail(f"child process ended with {self.process.returncode}\n{out}\n{err}", pytrace=False)
        return subprocess.CompletedProcess(self.process.args, self.process.returncode, out, err)


def start_python(code: str, env: Mapping[str, str | None], folder: Path) -> Running:
    """Start Python on ``code`` in ``folder``."""
    whole: dict[str, str | None] = {**os.environ, **env}
    kept = {name: value for name, value in whole.items() if value is not None}
    command = [sys.executable, "-c", code]
    pipe = subprocess.PIPE
    return Running(subprocess.Popen(command, env=kept, cwd=folder, stdout=pipe, stderr=pipe, text=True))


def resident() -> int:
    """Bytes of this process in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
