"""What all tests of the TensorFlow front end share beside ``../support/fixtures.py``.

Neighbours: ``../cases`` (the conformance table). Run with ``make test-tf``, in an environment without torch.
"""

from __future__ import annotations

import sys

import pytest
import tensorflow as tf
from ffgrad.tf import enzyme
from support.fixtures import compiling

compile_source = compiling(enzyme)


@pytest.fixture(autouse=True)
def _seeds() -> None:
    tf.keras.utils.set_random_seed(0)


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
