"""Fixtures for the tests of the wheel that ``make wheel`` has built."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def wheel() -> Path:
    """Return the wheel."""
    found = sorted((ROOT / "target" / "wheels").glob("*.whl"))
    if len(found) != 1:
        pytest.fail(f"target/wheels has {len(found)} wheels; `make wheel` builds one")
    return found[0]
