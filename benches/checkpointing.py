"""The gradient of a long time loop: time and memory beside JAX's and PyTorch's checkpointing.

Two nonlinear stencils, one in one dimension and one in two, are repeated; the gradient is by the initial state. Each tool runs in a process
of its own: memory is the largest resident size during the gradients beyond that before them (what the process had freed by then is given back
first), time is the best of three.

    .venv/bin/python benches/checkpointing.py [--steps 10000] [--quick] [--snapshots 20 100] [--tools ffgrad jax]

``jax`` needs an interpreter that has it: ``.venv-jax/bin/python``, or ``--jax-python``.

==============  ======================================================================================
ffgrad S        ``repeat`` with S snapshots
jax segments    ``lax.scan`` over segments of √t steps, each of them ``jax.checkpoint``
jax scan        ``lax.scan``, every state kept
torch segments  ``torch.utils.checkpoint`` of segments of √t steps
==============  ======================================================================================
"""

from __future__ import annotations

import argparse
import ctypes
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from math import isqrt
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
SOURCE = """\
#include <stddef.h>
/* Diffusion with a conductivity of 1 + u^2, explicit, in place: `last` keeps what was overwritten. */
static double flow(double a, double b) { double m = 0.5 * (a + b); return (1 + m * m) * (b - a); }
void line(double *u, int n) {
  double left = u[0];
  for (int i = 1; i + 1 < n; i++) {
    double here = u[i];
    u[i] = here + 0.1 * (flow(here, u[i + 1]) - flow(left, here));
    left = here;
  }
}
void plane(double *u, int rows, int cols, double *last) {
  for (int j = 0; j < cols; j++) last[j] = u[j];
  for (int i = 1; i + 1 < rows; i++) {
    double *row = u + (size_t)i * cols, left = row[0];
    last[0] = row[0];
    for (int j = 1; j + 1 < cols; j++) {
      double here = row[j];
      row[j] = here + 0.1 * (flow(here, row[j + 1]) - flow(left, here) + flow(here, row[j + cols]) - flow(last[j], here));
      last[j] = left = here;
    }
  }
}
"""
SIGNATURES = {"line": "u[n] -> u[n]", "plane": "u[rows,cols] -> u[rows,cols]; last[cols]"}


def initial(name: str, size: int) -> np.ndarray:
    """Return the state to begin with."""
    return 0.5 * np.random.default_rng(0).random((size,) if name == "line" else (size, size))


def step_of(concatenate: Callable[..., Any]) -> dict[str, Callable[[Any], Any]]:
    """Return a step of each stencil, on arrays of a framework."""

    def flow(a: Any, b: Any) -> Any:
        m = 0.5 * (a + b)
        return (1 + m * m) * (b - a)

    def line(u: Any) -> Any:
        left, here, right = u[:-2], u[1:-1], u[2:]
        return concatenate([u[:1], here + 0.1 * (flow(here, right) - flow(left, here)), u[-1:]], 0)

    def plane(u: Any) -> Any:
        here = u[1:-1, 1:-1]
        across = flow(here, u[1:-1, 2:]) - flow(u[1:-1, :-2], here)
        new = here + 0.1 * (across + flow(here, u[2:, 1:-1]) - flow(u[:-2, 1:-1], here))
        middle = concatenate([u[1:-1, :1], new, u[1:-1, -1:]], 1)
        return concatenate([u[:1], middle, u[-1:]], 0)

    return {"line": line, "plane": plane}


def of_ffgrad(name: str, steps: int, how: str) -> Callable[[np.ndarray], Any]:
    """Return the gradient of half the sum of squares behind the loop."""
    from ffgrad.numpy import enzyme

    source = Path(tempfile.mkdtemp()) / "stencils.c"
    source.write_text(SOURCE)
    op = enzyme(source, name, SIGNATURES[name], repeat="t", sizes={"t": steps}, snapshots=int(how))

    def gradient(u: np.ndarray) -> np.ndarray:
        last, pull = op.vjp(u)
        return pull(last)[0]

    return gradient


def of_jax(name: str, steps: int, how: str) -> Callable[[np.ndarray], Any]:
    """Return the same in JAX."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    step = step_of(jnp.concatenate)[name]

    def scan(u: Any, count: int) -> Any:
        return jax.lax.scan(lambda v, _: (step(v), None), u, None, length=count)[0]

    def loss(u: Any) -> Any:
        if how == "scan":
            return 0.5 * (scan(u, steps) ** 2).sum()
        inner = isqrt(steps)
        segment = jax.checkpoint(lambda v: scan(v, inner))
        u = jax.lax.scan(lambda v, _: (segment(v), None), u, None, length=steps // inner)[0]
        return 0.5 * (scan(u, steps % inner) ** 2).sum()

    compiled = jax.jit(jax.grad(loss))
    return lambda u: np.asarray(compiled(u))


def of_torch(name: str, steps: int, _: str) -> Callable[[np.ndarray], Any]:
    """Return the same in PyTorch, eager."""
    import torch
    from torch.utils.checkpoint import checkpoint

    step, inner = step_of(torch.cat)[name], isqrt(steps)

    def segment(u: torch.Tensor, count: int) -> torch.Tensor:
        for _ in range(count):
            u = step(u)
        return u

    def gradient(u: np.ndarray) -> np.ndarray:
        x = torch.from_numpy(u.copy()).requires_grad_()
        v = x
        for count in [inner] * (steps // inner) + [steps % inner]:
            v = checkpoint(
                segment, v, count, use_reentrant=True
            )  # the other kind fragments the heap: six times the memory
        (0.5 * (v**2).sum()).backward()
        return x.grad.numpy()

    return gradient


TOOLS = {"ffgrad": of_ffgrad, "jax": of_jax, "torch": of_torch}


def bound_memory(share: float = 0.7) -> None:
    """Let this process have a share of what is available: a tool that needs more fails by itself, and not the machine."""
    available = next(line for line in Path("/proc/meminfo").read_text().splitlines() if line.startswith("MemAvailable"))
    limit = int(share * 1024 * int(available.split()[1]))
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def resident(kind: str = "VmRSS") -> int:
    """Return the resident size in KiB, or the largest one since this was last asked for ``VmRSS``."""
    if kind == "VmRSS":
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from here: proc(5)
    return next(
        int(line.split()[1]) for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(kind)
    )


def measure(tool: str, name: str, how: str, steps: int, size: int) -> dict[str, float]:
    """Run in a process of its own; a first run of few steps builds and loads what is needed."""
    bound_memory()
    u = initial(name, size)
    TOOLS[tool](name, 16, "2" if tool == "ffgrad" else how)(u)
    gradient = TOOLS[tool](name, steps, how)
    before = resident()
    best, total = float("inf"), 0.0
    for _ in range(3):
        start = time.perf_counter()
        total = float(gradient(u).sum())
        best = min(best, time.perf_counter() - start)
    peak = resident("VmHWM") - before
    return {"seconds": best, "mib": peak / 1024, "sum": total}


def main() -> None:
    """Measure and print a table, or one row of it in a child process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--quick", action="store_true", help="500 steps of small states: rough numbers")
    parser.add_argument("--snapshots", type=int, nargs="+", default=[20, 100])
    parser.add_argument("--tools", nargs="+", choices=sorted(TOOLS), default=sorted(TOOLS), help="those to measure")
    parser.add_argument("--jax-python", type=Path, default=ROOT / ".venv-jax/bin/python")
    parser.add_argument("--one", nargs=5, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        tool, name, how, steps, size = options.one
        print(json.dumps(measure(tool, name, how, int(steps), int(size))))
        return
    steps, sizes = (
        (500, {"line": 10_000, "plane": 100}) if options.quick else (options.steps, {"line": 100_000, "plane": 300})
    )
    ways = [("ffgrad", str(s)) for s in options.snapshots] + [
        ("jax", "segments"),
        ("jax", "scan"),
        ("torch", "segments"),
    ]
    for name, size in sizes.items():
        print(f"\n{name} of {size}, {steps} steps; a state is {initial(name, size).nbytes / 2**20:.2f} MiB\n")
        print("| tool | seconds | MiB |\n|---|--:|--:|")
        sums = []
        for tool, how in (way for way in ways if way[0] in options.tools):
            python = options.jax_python if tool == "jax" else sys.executable
            command = [str(python), __file__, "--one", tool, name, how, str(steps), str(size)]
            child = subprocess.run(command, capture_output=True, text=True)
            if child.returncode:
                reason = (child.stderr.strip().splitlines() or [f"exit status {child.returncode}"])[-1]
                print(f"| {tool} {how} | left out: {reason[:100]} | |")
                continue
            found = json.loads(child.stdout.splitlines()[-1])
            sums.append(found["sum"])
            print(f"| {tool} {how} | {found['seconds']:.3f} | {found['mib']:.1f} |")
        if not np.allclose(sums, sums[0], rtol=1e-8):
            raise SystemExit(f"the gradients differ: {sums}")


if __name__ == "__main__":
    main()
