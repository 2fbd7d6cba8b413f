"""What all tests of the JAX front end share beside ``../support/fixtures.py``: four host devices, double precision.

Neighbours: ``../cases`` (the conformance table). Run with ``make test-jax``, in an environment of its own.
"""

from __future__ import annotations

import os
import sys

import pytest

# Before JAX is imported, which reads it then; children too.
os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=4"
os.environ["JAX_ENABLE_X64"] = "1"

from ffgrad.jax import enzyme  # noqa: E402
from support.fixtures import compiling  # noqa: E402

compile_source = compiling(enzyme)


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
