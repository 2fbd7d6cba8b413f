"""What all tests of the PyTorch front end share beside ``../fixtures.py``: seeds, operations that several files use.

Neighbours: ``programs.py`` (C sources that several files use) and ``../cases`` (the conformance table).
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest
import torch
from ffgrad.torch import Enzyme, enzyme
from fixtures import (  # noqa: F401  (pytest finds them here)
    Running,
    RunPython,
    Write,
    cache,
    compiling,
    numpy_seed,
    pytest_configure,
    pytest_unconfigure,
    run_python,
    start_python,
    write,
)
from goldens_of import golden  # noqa: F401
from programs import CUBE, DECAY, DECAY_SIGNATURE, PAIR, PAIR_SIGNATURE

Compile = Callable[..., Enzyme]
compile_source = compiling(enzyme)


@pytest.fixture(autouse=True)
def _seeds() -> None:
    torch.manual_seed(0)


@pytest.fixture
def cube(compile_source: Compile) -> Enzyme:
    """y = x**3."""
    return compile_source(CUBE, "cube", name="cube.c")


@pytest.fixture
def pair(compile_source: Compile) -> Enzyme:
    """(a*b, a**2 + sin(b))."""
    return compile_source(PAIR, "pair", PAIR_SIGNATURE, name="pair.c")


@pytest.fixture
def decay(compile_source: Compile) -> Enzyme:
    """amplitude * exp(-rate * t)."""
    return compile_source(DECAY, "decay", DECAY_SIGNATURE, name="decay.c")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how much of the conformance table is differentiated right, and what is refused."""
    table = sys.modules.get("test_conformance")
    if table is None or not table.gradchecked:
        return
    terminalreporter.section("conformance table")
    passed = len(table.gradchecked)
    terminalreporter.write_line(f"{passed} programs pass gradcheck, of {len(table.EXACT)} in double precision")
    terminalreporter.write_line(f"{len(table.forward_checked)} of them in forward mode too")
    if table.refused:
        terminalreporter.write_line(f"refused with a DifferentiationError: {', '.join(sorted(table.refused))}")
