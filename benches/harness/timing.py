"""Interleaved timing: in every round each competitor runs for a few milliseconds, so that disturbances of the machine affect all.

A sample's time is the lesser of elapsed and processor time (of all threads together): on a quiet machine they agree for one thread; on
a busy one what others took from this process does not count; and a competitor with several threads is given credit for them.
"""

from __future__ import annotations

import gc
import math
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Effort:
    """How long to measure.

    Attributes
    ----------
    rounds : int
        Rounds, at least three of which every competitor takes part in.
    sample : float
        Seconds that one competitor runs in one round (or one call, where that is longer).
    budget : float
        Seconds for one competitor in all rounds together; the slow ones sit out rounds.
    """

    rounds: int
    sample: float
    budget: float


FULL = Effort(rounds=25, sample=0.02, budget=10.0)
QUICK = Effort(rounds=7, sample=0.005, budget=1.5)


@dataclass
class Times:
    """Seconds per call, one entry a round; ``None`` where it sat out."""

    rounds: list[float | None]
    calls: int
    cpu: float

    @property
    def median(self) -> float:
        """Median over the rounds."""
        return statistics.median(t for t in self.rounds if t is not None)

    def as_dict(self) -> dict[str, object]:
        """Return what the report keeps."""
        present = sorted(t for t in self.rounds if t is not None)
        quarter = len(present) // 4
        return {
            "median": self.median,
            "quartiles": [present[quarter], present[-1 - quarter]],
            "least": present[0],
            "rounds": self.rounds,
            "calls": self.calls,
            "cpu_per_wall": round(self.cpu, 2),
        }


def interleave(functions: Mapping[str, Callable[[], object]], effort: Effort) -> dict[str, Times]:
    """Time every function in every round.

    Parameters
    ----------
    functions
        By name; each has been called before, so that nothing is built or compiled here.
    effort
        How long.

    Returns
    -------
    dict of str to Times
    """
    calls = {name: _calls(function, effort.sample) for name, function in functions.items()}
    stride = {name: _stride(one, count, effort) for name, (one, count) in calls.items()}
    times: dict[str, Times] = {name: Times([], calls[name][1], 0.0) for name in functions}
    wall = dict.fromkeys(functions, 0.0)
    cpu = dict.fromkeys(functions, 0.0)
    names = list(functions)
    enabled = gc.isenabled()
    gc.disable()
    try:
        for number in range(effort.rounds):
            first = number % len(names)
            for name in names[first:] + names[:first]:
                if number % stride[name]:
                    times[name].rounds.append(None)
                    continue
                seconds, process = _sample(functions[name], calls[name][1])
                times[name].rounds.append(min(seconds, process) / calls[name][1])
                wall[name] += seconds
                cpu[name] += process
            gc.collect()
    finally:
        if enabled:
            gc.enable()
    for name in names:
        times[name].cpu = cpu[name] / wall[name]
    return times


def ratio(times: Times, base: Times) -> float:
    """Return the median, over the rounds in which both ran, of one time over the other."""
    pairs = [(a, b) for a, b in zip(times.rounds, base.rounds, strict=True) if a is not None and b is not None]
    return statistics.median(a / b for a, b in pairs)


def _calls(function: Callable[[], object], sample: float) -> tuple[float, int]:
    """Return seconds per call, and how many calls fill a sample."""
    function()  # a forward run may not have been compiled yet
    count, seconds = 1, min(_sample(function, 1))
    while seconds < sample / 4:
        count = max(2 * count, min(100 * count, math.ceil(count * sample / max(seconds, 1e-9) / 2)))
        seconds = min(_sample(function, count))
    return seconds / count, max(1, round(count * sample / seconds))


def _stride(one: float, count: int, effort: Effort) -> int:
    wanted = max(3, int(effort.budget / (one * count)))
    return max(1, math.ceil(effort.rounds / wanted)) if wanted < effort.rounds else 1


def _sample(function: Callable[[], object], count: int) -> tuple[float, float]:
    process = time.process_time()
    start = time.perf_counter()
    for _ in range(count):
        function()
    end = time.perf_counter()
    return end - start, time.process_time() - process
