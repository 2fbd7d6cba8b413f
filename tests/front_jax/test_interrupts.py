"""Ctrl-C during a build that JAX asks for: a ``KeyboardInterrupt``, no child left, and the next build right.

What a computation needs is built where it is lowered, on the thread that calls it, not where XLA runs it.
"""

from __future__ import annotations

import pytest
from torture.faults import signals


@pytest.mark.parametrize(
    ("front", "stage"), [("jax", "engine"), ("jax.jit", "engine"), ("jax.jit, values", "clang: link")]
)
def test_ctrl_c_ends_a_build(front: str, stage: str) -> None:
    """The tool that hangs and its children are gone, and no lock is held."""
    result = signals.run([stage], ["SIGINT"], [front])
    assert result.passed, result.problems
