"""Opens one function in many processes at once; expects one build, and the right result in each process.

Every process waits for the others before it opens the function. Builds are counted by the entries of the cache and by Enzyme's
runs, which a wrapper around it counts.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

CUBE = """\
void cube(const double* x, int n, double* y) {
  for (int i = 0; i < n; i++) y[i] = x[i] * x[i] * x[i];
}
"""

# What a racing process does: wait for the start, open, differentiate, print.
RACER = """
import os, sys, time
import numpy as np
from ffgrad.numpy import enzyme
open(sys.argv[2] + "/ready" + str(os.getpid()), "w").close()
while not os.path.exists(sys.argv[2] + "/go"):
    time.sleep(0.01)
f = enzyme(sys.argv[1], "cube", "x[n] -> y[n]")
y, pull = f.vjp(np.full(3, 2.0))
print(y.tolist(), pull(np.ones(3))[0].tolist())
"""
RIGHT = "[8.0, 8.0, 8.0] [12.0, 12.0, 12.0]"


@dataclass
class Race:
    """What a race gave."""

    processes: int
    right: int
    engine_runs: int
    entries: int
    leftovers: int
    seconds: float
    problems: list[str]

    @property
    def passed(self) -> bool:
        """Whether all is as it should be."""
        return self.right == self.processes and self.engine_runs == self.entries == 1 and self.leftovers == 0


def counting_engine(folder: Path) -> dict[str, str]:
    """Return an environment in which every run of Enzyme leaves a line in ``runs``."""
    engine = real_engine()
    wrapper = folder / "catalyst"
    # The digest of the wrapper is Enzyme's identity; asking for the version is no run.
    wrapper.write_text(f'#!/bin/sh\ncase "$*" in *llc*-o*) echo run >> "{folder}/runs";; esac\nexec "{engine}" "$@"\n')
    wrapper.chmod(0o755)
    return {**os.environ, "FFGRAD_CATALYST": str(wrapper)}


def real_engine() -> str:
    """Return the Enzyme driver that ffgrad uses."""
    if "FFGRAD_CATALYST" in os.environ:
        return os.environ["FFGRAD_CATALYST"]
    tools = Path(os.environ.get("FFGRAD_TOOLS_DIR") or Path.home() / ".local/share/ffgrad/tools")
    found = sorted(tools.rglob("bin/catalyst"))
    if not found:
        raise RuntimeError(f"no engine below {tools}")
    return str(found[-1])


def race(processes: int) -> Race:
    """Start the processes together on an empty cache."""
    with tempfile.TemporaryDirectory(prefix="ffgrad-race-") as name:
        folder = Path(name)
        source = folder / "cube.c"
        source.write_text(CUBE)
        env = {**counting_engine(folder), "FFGRAD_CACHE_DIR": str(folder / "cache"), "OMP_NUM_THREADS": "1"}
        env["OPENBLAS_NUM_THREADS"] = "1"
        pipe = subprocess.PIPE
        command = [sys.executable, "-c", RACER, str(source), name]
        # What was learnt of the tools is kept per user; probing a tool for the first time is no part of the race.
        subprocess.run([sys.executable, "-c", "import ffgrad"], env=env, check=True)
        running = [subprocess.Popen(command, env=env, stdout=pipe, stderr=pipe, text=True) for _ in range(processes)]
        while sum(1 for _ in folder.glob("ready*")) < processes and all(p.poll() is None for p in running):
            time.sleep(0.05)
        start = time.monotonic()
        (folder / "go").touch()
        results = [p.communicate(timeout=1200) for p in running]
        seconds = time.monotonic() - start
        problems = [err.strip()[-300:] or out for out, err in results if out.strip() != RIGHT]
        runs = (folder / "runs").read_text().count("run") if (folder / "runs").exists() else 0
        root = next((folder / "cache").glob("v*"))
        entries, leftovers = (len(list((root / part).iterdir())) for part in ("entries", "staging"))
        return Race(processes, processes - len(problems), runs, entries, leftovers, seconds, problems)


def report(r: Race) -> str:
    """Return the figures as text."""
    return (
        f"race for one key: {r.processes} processes, {r.right} right answers, {r.engine_runs} engine run(s), "
        f"{r.entries} entry, {r.leftovers} staging folders left"
    )
