"""Makes very many calls, whose memory must not grow, and has threads and processes call and build at once.

Memory is the resident set of a process of its own, after enough calls that every buffer has its size. Each kind of call is made
in both front ends; what grows by more than a few bytes a call is a leak.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from torture.faults.races import CUBE

# Makes calls of one kind and prints the resident memory in bytes after warming up and at the end.
CALLS = """
import gc, json, os, sys
kind, calls, source = sys.argv[1], int(sys.argv[2]), sys.argv[3]
front, what = kind.split()
def memory():
    gc.collect()
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
if front == "numpy":
    import numpy as np
    from ffgrad.numpy import enzyme
    f = enzyme(source, "cube", "x[n] -> y[n]")
    x, ones = np.full(64, 2.0), np.ones(64)
    call = {
        "primal": lambda: f(x),
        "vjp": lambda: f.vjp(x)[1](ones),
        "jvp": lambda: f.jvp((x,), (ones,)),
        "hvp": lambda: f.hvp((x,), (ones,), ones),
    }[what]
else:
    import torch
    from ffgrad.torch import enzyme
    torch.set_num_threads(1)
    f = enzyme(source, "cube", "x[n] -> y[n]", mode="tape" if what == "tape" else "recompute")
    x = torch.full((64,), 2.0, dtype=torch.float64)
    leaf, ones = x.clone().requires_grad_(), torch.ones_like(x)
    def vjp():
        leaf.grad = None
        f(leaf).backward(ones)
    call = {
        "primal": lambda: f(x),
        "vjp": vjp,
        "tape": vjp,
        "jvp": lambda: torch.func.jvp(f, (x,), (ones,)),
        "hvp": lambda: torch.autograd.functional.vhp(lambda x: f(x).sum(), x, ones),
    }[what]
for _ in range(min(2000, calls // 4)):
    call()
before = memory()
for _ in range(calls):
    call()
print(json.dumps([before, memory()]))
"""

KINDS = ["numpy primal", "numpy vjp", "numpy jvp", "numpy hvp", "torch primal", "torch vjp", "torch tape", "torch jvp"]

# What allocators round and caches keep, however many calls there are.
SLACK = 2 << 20


@dataclass
class LongRun:
    """What calling gave."""

    calls: int
    grown: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether nothing grew."""
        return bool(self.grown) and not self.problems


def run(calls: int, kinds: list[str] | None = None) -> LongRun:
    """Make so many calls of every kind."""
    result = LongRun(calls)
    with tempfile.TemporaryDirectory(prefix="ffgrad-longrun-") as name:
        source = Path(name) / "cube.c"
        source.write_text(CUBE)
        env = {**os.environ, "FFGRAD_CACHE_DIR": f"{name}/cache", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        for kind in kinds or KINDS:
            command = [sys.executable, "-c", CALLS, kind, str(calls), str(source)]
            done = subprocess.run(command, env=env, capture_output=True, text=True)
            if done.returncode != 0:
                result.problems.append(f"{kind}: {done.stderr.strip()[-300:]}")
                continue
            before, after = json.loads(done.stdout)
            result.grown[kind] = after - before
            if after - before > SLACK:
                result.problems.append(f"{kind}: grew by {after - before} bytes in {calls} calls, from {before}")
    return result


def report(r: LongRun) -> str:
    """Return the figures as text."""
    grown = ", ".join(f"{kind} {bytes >> 10:+d} KiB" for kind, bytes in r.grown.items())
    return f"memory after {r.calls} calls of each kind: {grown}"
