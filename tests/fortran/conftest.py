"""What the tests that are about Fortran alone share beside ``../support/fixtures.py``; the programs are in ``../cases/fortran``."""

from __future__ import annotations

import pytest
import torch
from ffgrad.torch import enzyme
from support.fixtures import compiling

compile_source = compiling(enzyme)


@pytest.fixture(autouse=True)
def _seeds() -> None:
    torch.manual_seed(0)
