"""A step of an equation, run so many times by PyTorch: eagerly, and with the step compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.problem import Function

Step = Callable[[Any, Any], Any]


def looped(step: Step, steps: int) -> Function:
    """Return the function of a state and a parameter that runs all steps."""

    def run(u: Any, k: Any) -> Any:
        for _ in range(steps):
            u = step(u, k)
        return u

    return run


def compiled(step: Step, steps: int) -> Function:
    """Return the same with the step compiled, not the loop."""
    import torch

    return looped(torch.compile(step, dynamic=False, fullgraph=True), steps)
