"""Makes each child process of a build fail in each manner at each stage; expects a typed error, a live process and an intact cache.

A shell script stands in for one child (clang, the linker inside it, Enzyme, the worker), set by the environment variables that
choose a tool. It does the real thing but for one stage, where it crashes, hangs, answers garbage or nothing, fails as on a full
disk, or is killed as by the system for want of memory. Then the same function is built in the same cache with the real tools.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from torture.faults.races import CUBE, RIGHT, real_engine

TIMEOUT = 8

# Tries to build; prints the class of the error, or the result.
ATTEMPT = """
import sys
import numpy as np
import ffgrad
from ffgrad.numpy import enzyme
try:
    f = enzyme(sys.argv[1], "cube", "x[n] -> y[n]", timeout=int(sys.argv[2]))
    y, pull = f.vjp(np.full(3, 2.0))
    print(y.tolist(), pull(np.ones(3))[0].tolist())
except ffgrad.Error as error:
    print("typed", type(error).__name__, error.code, str(error).splitlines()[0])
"""

FAILURES = {
    # Where the shell that reads requests is not the script itself, it ends too: the real worker must not live on.
    "crash": "kill -SEGV $$; exit",
    "abort": "echo 'LLVM ERROR: assertion failed' >&2; kill -ABRT $$; exit",
    "killed": "kill -KILL $$; exit",
    "hang": "sleep 600",
    "garbage": "head -c 4096 /dev/urandom; exit 0",
    "nothing": "exit 0",
    "fails": "echo 'error: something new' >&2; exit 7",
    "disk full": "echo 'error: unable to write: No space left on device' >&2; exit 1",
    "endless": "yes garbage | head -c 200000000; exit 1",
}

# Where each child can fail: a pattern of its command line, or (worker) of the request.
STAGES = {
    "clang: compile": ("FFGRAD_CLANG", "*cube.c*"),
    "clang: runtime": ("FFGRAD_CLANG", "*arena*"),
    "clang: link": ("FFGRAD_CLANG", "*-shared*"),
    "engine": ("FFGRAD_CATALYST", "*llc*"),
    "worker: start": ("FFGRAD_WORKER", "start"),
    "worker: load": ("FFGRAD_WORKER", "load"),
    "worker: describe": ("FFGRAD_WORKER", "describe"),
    "worker: derive": ("FFGRAD_WORKER", "derive"),
    "worker: finish": ("FFGRAD_WORKER", "finish"),
    "worker: primal": ("FFGRAD_WORKER", "primal"),
}


@dataclass
class Faults:
    """What the faults gave."""

    tried: int = 0
    typed: int = 0
    recovered: int = 0
    problems: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether every fault gave a typed error and the next build was right."""
        return self.tried == self.typed == self.recovered


def tools() -> dict[str, str]:
    """Return the real program for each variable."""
    root = Path(__file__).resolve().parents[3]
    worker = os.environ.get("FFGRAD_WORKER") or str(root / "py/python/ffgrad/bin/ffgrad-llvm")
    command = [sys.executable, "-c", "import ffgrad; print(ffgrad.__version__)"]
    subprocess.run(command, check=True, capture_output=True)
    return {"FFGRAD_CLANG": real_clang(root), "FFGRAD_CATALYST": real_engine(), "FFGRAD_WORKER": worker}


def real_clang(root: Path) -> str:
    """Return the clang that ffgrad uses, as a manifest names it."""
    with tempfile.TemporaryDirectory() as name:
        source = Path(name) / "cube.c"
        source.write_text(CUBE)
        env = {**os.environ, "FFGRAD_CACHE_DIR": f"{name}/cache"}
        command = [str(root / "target/release/ffgrad"), "show", "--json", str(source), "cube"]
        shown = json.loads(subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout)
        return str(shown["commands"][0].split()[0])


def stand_in(folder: Path, variable: str, stage: str, failure: str, real: str) -> Path:
    """Write the script that replaces the tool; its versions and probes are the real ones."""
    script = folder / ("clang" if variable == "FFGRAD_CLANG" else "tool")
    does = FAILURES.get(failure, failure)
    if variable != "FFGRAD_WORKER":
        # An output named by -o is left empty or half written, as such a failure would.
        text = f'case "$*" in {stage}) {does};; esac\nexec "{real}" "$@"\n'
    elif stage == "start":
        text = f'case "$*" in *version*) exec "{real}" "$@";; esac\n{does}\n'
    else:
        text = (
            f'case "$*" in *version*) exec "{real}" "$@";; esac\n'
            f'while IFS= read -r line; do case "$line" in *\'"job":"{stage}"\'*) {does};; '
            f'*) printf "%s\\n" "$line";; esac; done | "{real}" "$@"\n'
        )
        if failure in ("garbage", "endless", "nothing"):
            # What goes wrong has to come out of the worker, not go into it.
            text = text.replace(does, "exit 0" if failure == "nothing" else "echo nonsense; exit 0")
    script.write_text("#!/bin/bash\n" + text)
    script.chmod(0o755)
    return script


def attempt(source: Path, env: dict[str, str]) -> str:
    """Build in a process of its own; returns its one line, or how it died."""
    command = [sys.executable, "-c", ATTEMPT, str(source), str(TIMEOUT)]
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=TIMEOUT * 8 + 60)
    except subprocess.TimeoutExpired:
        return "no answer in time"
    return done.stdout.strip() or f"exit {done.returncode}: {done.stderr.strip()[-300:]}"


def run(stages: list[str] | None = None, failures: list[str] | None = None) -> Faults:
    """Try every failure at every stage."""
    result, real = Faults(), tools()
    for stage, (variable, pattern) in STAGES.items():
        for failure in FAILURES:
            if (stages and stage not in stages) or (failures and failure not in failures):
                continue
            folder = Path(tempfile.mkdtemp(prefix="ffgrad-faults-"))
            try:
                one(result, folder, f"{failure} in {stage}", variable, pattern, failure, real[variable])
            finally:
                shutil.rmtree(folder, ignore_errors=True)
    return result


def one(result: Faults, folder: Path, name: str, variable: str, pattern: str, failure: str, real: str) -> None:
    """Let one child fail in one manner, then build with the real tools."""
    source = folder / "cube.c"
    source.write_text(CUBE)
    env = {**os.environ, "FFGRAD_CACHE_DIR": str(folder / "cache"), "OPENBLAS_NUM_THREADS": "1"}
    script = stand_in(folder, variable, pattern, failure, real)
    broken = {**env, variable: str(script)}
    if variable == "FFGRAD_CLANG":
        broken["FFGRAD_CLANGXX"] = str(Path(real).parent / "clang++")
    said = attempt(source, broken)
    result.tried += 1
    result.typed += said.startswith("typed")
    if not said.startswith("typed"):
        result.problems.append(f"{name}: {said}")
    after = attempt(source, env)
    result.recovered += after == RIGHT
    if after != RIGHT:
        result.problems.append(f"after {name}: {after}")


def report(f: Faults) -> str:
    """Return the figures as text."""
    return f"failing children: {f.tried} faults, {f.typed} typed errors, {f.recovered} right builds in the same cache afterwards"
