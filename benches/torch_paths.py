"""What a call costs in PyTorch on each path, at n = 16: eager, forward mode, double backward, torch.func, torch.compile.

Each path beside the same formula, x * sin(x), written in torch. Interleaved; the smallest of many short runs, because a machine's noise only
ever adds.

    python benches/torch_paths.py [--quick] [--out FILE]
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from ffgrad.torch import enzyme
from harness.fastest import microseconds
from torch.autograd import forward_ad, grad

SOURCE = Path(__file__).resolve().parents[1] / "examples" / "test.c"
N = 16


def paths(f: Callable[..., Any]) -> dict[str, Callable[[], Any]]:
    """Return one call of each path."""
    x = torch.linspace(-2.0, 2.0, N, requires_grad=True)
    plain, seed, batch = x.detach(), torch.ones(N), torch.randn(32, N)
    compiled = torch.compile(f, fullgraph=True)
    hessians = torch.func.vmap(torch.func.hessian(lambda x: f(x).sum()))
    each = torch.func.vmap(torch.func.grad(lambda x: f(x).sum()))

    def double() -> Any:
        (first,) = grad(f(x), x, seed, create_graph=True)
        return grad(first, x, seed)

    def twice() -> Any:
        return torch.func.jvp(lambda x: torch.func.jvp(f, (x,), (seed,))[1], (plain,), (seed,))

    def dual() -> Any:
        with forward_ad.dual_level():
            return forward_ad.unpack_dual(f(forward_ad.make_dual(plain, seed))).tangent

    def step() -> Any:
        return grad(compiled(x), x, seed)

    return {
        "forward, no gradient asked": lambda: f(plain),
        "forward + autograd.grad": lambda: grad(f(x), x, seed),
        "forward mode (dual tensors)": dual,
        "grad of grad": double,
        "jvp of jvp": twice,
        "torch.func.grad": lambda: torch.func.grad(lambda x: f(x).sum())(plain),
        "vmap(grad) over 32": lambda: each(batch),
        "vmap(hessian) over 32": lambda: hessians(batch),
        "torch.compile, forward": lambda: compiled(plain),
        "torch.compile, forward + autograd.grad": step,
    }


def measure(rounds: int, calls: int) -> dict[str, dict[str, float]]:
    """Return microseconds by path and competitor."""
    torch.set_num_threads(1)
    competitors = {"ffgrad": enzyme(SOURCE, "f"), "PyTorch": lambda x: x * torch.sin(x)}
    functions = {(path, name): f for name, g in competitors.items() for path, f in paths(g).items()}
    tape = enzyme(SOURCE, "f", mode="tape")
    x, seed = torch.linspace(-2.0, 2.0, N, requires_grad=True), torch.ones(N)
    functions['forward + autograd.grad, mode="tape"', "ffgrad"] = lambda: grad(tape(x), x, seed)
    table: dict[str, dict[str, float]] = {}
    for (path, name), value in microseconds(functions, rounds, calls).items():
        table.setdefault(path, {})[name] = value
    return table


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    table = measure(*((40, 10) if arguments.quick else (300, 20)))
    print(f"| µs a call, n = {N} | ffgrad | x * sin(x) in PyTorch |\n|---|--:|--:|")
    for path, row in table.items():
        beside = f"{row['PyTorch']:.1f}" if "PyTorch" in row else ""
        print(f"| {path} | {row['ffgrad']:.1f} | {beside} |")
    if arguments.out:
        arguments.out.write_text(json.dumps({"n": N, "torch": torch.__version__, "microseconds": table}, indent=1))


if __name__ == "__main__":
    main()
    os._exit(0)
