"""Fixtures for tests that use PyTorch: a seed, and operations that several files use.

Neighbours: ``programs.py`` (their C sources), ``goldens.py`` (texts of errors). A folder's ``conftest.py`` imports what it needs.
"""

from __future__ import annotations

import pytest
import torch
from ffgrad.torch import Enzyme, enzyme
from support.fixtures import Compile, compiling
from support.programs import CUBE, DECAY, DECAY_SIGNATURE, PAIR, PAIR_SIGNATURE

compile_source = compiling(enzyme)


@pytest.fixture(autouse=True)
def torch_seed() -> None:
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
