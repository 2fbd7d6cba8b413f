"""Sends signals during builds; expects that no descendant and no lock stays, and that Ctrl-C is a ``KeyboardInterrupt``.

A script takes the place of one tool, starts a child of its own and hangs. Then the building process gets a signal: SIGINT, which
Python raises as an exception; SIGTERM, which ends it; SIGKILL, which lets it do nothing any more. The other two are ended as
a terminal or a scheduler would, the process alone, not its group.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from torture.faults.failing_tools import STAGES, stand_in, tools
from torture.faults.races import CUBE, RIGHT

# Far beyond what the test waits for: only the signal can end the build.
FOREVER = 3000
HANG = f'sleep {FOREVER} & echo "$$ $!" > "$PIDS.new"; mv "$PIDS.new" "$PIDS"; wait'

# Builds, is interrupted, and prints so.
BUILD = f"""
import os, signal, sys
import numpy as np
from ffgrad.{{front}} import enzyme
source = sys.argv[1]
# A shell starts what it puts into the background with SIGINT ignored, and Python leaves it so.
signal.signal(signal.SIGINT, signal.default_int_handler)
def build():
    return enzyme(source, "cube", "x[n] -> y[n]", timeout={FOREVER})
def gradient():
    {{gradient}}
try:
    gradient()
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
TORCH = "import torch; x = torch.full((3,), 2.0, dtype=torch.float64, requires_grad=True); f = build(); "
TF = "import tensorflow as tf; x = tf.Variable([2.0, 2.0, 2.0], dtype=tf.float64); "
JAX = "import jax; jax.config.update('jax_enable_x64', True); x = np.full(3, 2.0); f = build(); "
# By caller: the front end, and what is called. The second ones of a framework do not come from ffgrad's own Python code.
CALLERS = {
    "numpy": ("numpy", "build().vjp(np.full(3, 2.0))[1](np.ones(3))"),
    "torch": ("torch", TORCH + "f.apply(x).sum().backward()"),
    "torch.func": ("torch", TORCH + "torch.func.grad(lambda x: f.apply(x).sum())(x.detach())"),
    "torch.compile": ("torch", TORCH + "torch.compile(lambda x: f.apply(x).sum(), backend='aot_eager')(x).backward()"),
    "torch.ops": ("torch", TORCH + "torch.ops.ffgrad.vjp([x.detach()], [torch.ones_like(x)], f._spec, 0, 1, 1)"),
    "tf": ("tf", TF + "\n    with tf.GradientTape() as tape:\n        y = build()(x)\n    tape.gradient(y, x)"),
    "jax": ("jax", JAX + "jax.grad(lambda x: f(x).sum())(x)"),
    "jax.jit": ("jax", JAX + "jax.jit(jax.grad(lambda x: f(x).sum()))(x)"),
    "jax.jit, values": ("jax", JAX + "jax.jit(f)(x)"),
}

SIGNALS = {"SIGINT": signal.SIGINT, "SIGTERM": signal.SIGTERM, "SIGKILL": signal.SIGKILL}


@dataclass
class Signals:
    """What the signals gave."""

    tried: int = 0
    orphans: int = 0
    locked: int = 0
    problems: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether all ended as they should, and left nothing."""
        return self.tried > 0 and self.orphans == self.locked == 0 and not self.problems


def alive(pid: int) -> bool:
    """Whether a process runs; a zombie whose parent is slow does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def until(holds: object, seconds: float) -> bool:
    """Wait for something to become true."""
    end = time.monotonic() + seconds
    assert callable(holds)
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.02)
    return bool(holds())


def held_locks(cache: Path) -> list[str]:
    """Return the locks of a cache that are held."""
    held = []
    for path in cache.glob("v*/locks/*"):
        with path.open() as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                held.append(path.name)
    return held


def send(result: Signals, folder: Path, stage: str, name: str, front: str, real: dict[str, str]) -> None:
    """Let one tool hang, send one signal, find what remains, and build with the real tools."""
    variable, pattern = STAGES[stage]
    source, cache, pids = folder / "cube.c", folder / "cache", folder / "pids"
    source.write_text(CUBE)
    env = {**os.environ, "FFGRAD_CACHE_DIR": str(cache), "OPENBLAS_NUM_THREADS": "1", "PIDS": str(pids)}
    broken = {**env, variable: str(stand_in(folder, variable, pattern, HANG, real[variable]))}
    if variable == "FFGRAD_CLANG":
        broken["FFGRAD_CLANGXX"] = str(Path(real[variable]).parent / "clang++")
    module, gradient = CALLERS[front]
    code = BUILD.format(front=module, gradient=gradient)
    command = [sys.executable, "-c", code, str(source)]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, env=broken, stdout=pipe, stderr=pipe, text=True)
    result.tried += 1
    what = f"{name} in {stage} ({front})"
    if not until(lambda: pids.exists() or process.poll() is not None, 120) or process.poll() is not None:
        process.kill()
        result.problems.append(f"{what}: the build did not get there: {process.communicate()[1][-300:]}")
        return
    process.send_signal(SIGNALS[name])
    try:
        out, err = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        result.problems.append(f"{what}: it went on")
    raised = out.strip() == "interrupted" and process.returncode == 0
    if (name == "SIGINT" and not raised) or (name != "SIGINT" and process.returncode != -SIGNALS[name]):
        result.problems.append(f"{what}: exit {process.returncode}: {out.strip()} {err.strip()[-300:]}")
    left = [int(pid) for pid in pids.read_text().split()]
    if not until(lambda: not any(alive(pid) for pid in left), 20):
        result.orphans += sum(alive(pid) for pid in left)
        result.problems.append(f"{what}: children live on")
        for pid in filter(alive, left):
            os.kill(pid, signal.SIGKILL)
    if locks := held_locks(cache):
        result.locked += 1
        result.problems.append(f"{what}: held: {locks}")
    after = build(source, env, module if module == "jax" else "numpy")
    if after != RIGHT:
        result.problems.append(f"after {what}: {after}")


def build(source: Path, env: dict[str, str], module: str = "numpy") -> str:
    """Build with the real tools; the numbers, or what went wrong."""
    # Where JAX is there may be nothing else.
    in_jax = "jax.config.update('jax_enable_x64', True)\ny, pull = jax.vjp(f, np.full(3, 2.0))\n"
    code = (
        f"import sys\nimport numpy as np\nfrom ffgrad.{module} import enzyme\n"
        'f = enzyme(sys.argv[1], "cube", "x[n] -> y[n]")\n'
        + (f"import jax\n{in_jax}" if module == "jax" else "y, pull = f.vjp(np.full(3, 2.0))\n")
        + "print(np.asarray(y).tolist(), np.asarray(pull(np.ones(3))[0]).tolist())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(source)], env=env, capture_output=True, text=True, timeout=300
    )
    return done.stdout.strip() or done.stderr.strip()[-300:]


def run(stages: list[str] | None = None, names: list[str] | None = None, fronts: list[str] | None = None) -> Signals:
    """Send every signal at every stage."""
    result, real = Signals(), tools()
    for stage in stages or STAGES:
        for name in names or SIGNALS:
            for front in fronts or ["numpy"]:
                folder = Path(tempfile.mkdtemp(prefix="ffgrad-signals-"))
                try:
                    send(result, folder, stage, name, front, real)
                finally:
                    shutil.rmtree(folder, ignore_errors=True)
    return result


def report(s: Signals) -> str:
    """Return the figures as text."""
    return (
        f"signals during builds: {s.tried} sent (SIGINT, SIGTERM, SIGKILL), {s.orphans} children left, {s.locked} locks left, "
        f"{len(s.problems)} problems"
    )
