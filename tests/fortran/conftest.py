"""What the tests that are about Fortran alone share beside ``../fixtures.py``; the programs are in ``../cases/fortran``."""

from __future__ import annotations

import pytest
import torch
from ffgrad.torch import enzyme
from fixtures import (  # noqa: F401  (pytest finds them here)
    compiling,
    numpy_seed,
    pytest_configure,
    pytest_unconfigure,
    write,
)

compile_source = compiling(enzyme)


@pytest.fixture(autouse=True)
def _seeds() -> None:
    torch.manual_seed(0)
