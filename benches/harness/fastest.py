"""The least time of a short call: functions run one after the other, and the smallest of many short runs counts, because noise only adds."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping
from typing import Any, TypeVar

Key = TypeVar("Key", bound=Hashable)


def microseconds(functions: Mapping[Key, Callable[[], Any]], rounds: int, calls: int) -> dict[Key, float]:
    """Return the microseconds of a call of each function: the least over ``rounds`` runs of ``calls`` calls."""
    best = dict.fromkeys(functions, float("inf"))
    for function in functions.values():
        for _ in range(20):
            function()
    for _ in range(rounds):
        for key, function in functions.items():
            start = time.perf_counter()
            for _ in range(calls):
                function()
            best[key] = min(best[key], (time.perf_counter() - start) / calls * 1e6)
    return best
