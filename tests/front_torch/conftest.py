"""Fixtures of the PyTorch front end, and what the conformance table gave at the end of a run."""

from __future__ import annotations

import sys

import pytest
from support.goldens import golden  # noqa: F401  (pytest finds them here)
from support.torch_fixtures import compile_source, cube, decay, pair, torch_seed  # noqa: F401


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Report how many programs of the conformance table are differentiated right, and which are refused."""
    table = sys.modules.get("test_conformance")
    if table is None or not table.gradchecked:
        return
    terminalreporter.section("conformance table")
    passed = len(table.gradchecked)
    terminalreporter.write_line(f"{passed} programs pass gradcheck, of {len(table.EXACT)} in double precision")
    terminalreporter.write_line(f"{len(table.forward_checked)} of them in forward mode too")
    if table.refused:
        terminalreporter.write_line(f"refused with a DifferentiationError: {', '.join(sorted(table.refused))}")
