"""Ctrl-C during a build that TensorFlow asks for: a ``KeyboardInterrupt``, no child left, and the next build right.

An eager operation runs on the thread that calls it; the nodes of a graph do not, and cannot be interrupted.
"""

from __future__ import annotations

import pytest
from torture.faults import signals


@pytest.mark.parametrize(("front", "stage"), [("tf", "engine")])
def test_ctrl_c_ends_a_build(front: str, stage: str) -> None:
    """The tool that hangs and its children are gone, and no lock is held."""
    result = signals.run([stage], ["SIGINT"], [front])
    assert result.passed, result.problems
