"""Runs the tests, the example and the benchmark on a GPU machine that has no compiler, from a cache that is filled elsewhere.

``scripts/gpu.sh pack`` has this fill a cache at a fixed place, which a cache knows its sources by, with code for any CPU of a common level
and PTX for every kernel, derivative and set of inputs that the tests, the example and the benchmark ask for. On the other machine the same
file runs them from there: as a plugin of pytest, or ``gpu_kit.py run SCRIPT``.
"""

from __future__ import annotations

import importlib.metadata
import runpy
import shutil
import sys
from pathlib import Path
from typing import Any

CPU = "x86-64-v3"
OPENED: list[Any] = []


def patch() -> None:
    """Let every function be opened for the level of CPUs that the kit was made for."""
    import ffgrad.torch

    original = ffgrad.torch.enzyme

    def enzyme(*given: Any, **options: Any) -> Any:
        f = original(*given, **{"cpu": CPU, **options})
        OPENED.append(f)
        return f

    ffgrad.torch.enzyme = enzyme


def run(script: str, *arguments: str) -> None:
    """Run a script with its arguments."""
    sys.argv = [script, *arguments]
    sys.path.insert(0, str(Path(script).parent))
    runpy.run_path(script, run_name="__main__")


def fill(root: Path) -> None:
    """Build everything once: on the CPU by calling it, for the GPU up to PTX."""
    import torch

    sys.path[:0] = [str(root / "tests"), str(root / "benches")]
    import cuda_kernels
    from support import cuda_cases
    from torch.func import grad, vmap

    for case in cuda_cases.CASES:
        f = cuda_cases.enzyme(case.source, case.function, case.signature, **case.options)
        inputs = cuda_cases.inputs_of(case)
        _on_the_cpu(f, inputs, second=not {"shared", "shuffle"} & set(case.tags))
    f, case = cuda_cases.opened("gather")
    x, index = (v.detach() for v in cuda_cases.inputs_of(case))
    torch.func.hessian(lambda v: (f(v, index) ** 3).sum())(x)
    vmap(grad(lambda v: f(v, index).sum()))(torch.stack([x, x]))
    for make in cuda_kernels.PROBLEMS:
        name, f, inputs, _ = make(8, "cpu")
        _on_the_cpu(f, inputs, second=False)
    run(str(root / "examples/cuda_diffusion/invert.py"), "--size", "18", "--steps", "1", "--out", "/tmp")
    for number, f in enumerate(OPENED):
        print(f"\r  PTX of {number + 1} of {len(OPENED)} functions", end="", flush=True)
        _for_a_gpu(f)
    print()


def _on_the_cpu(f: Any, inputs: list[Any], second: bool) -> None:
    """Call a kernel, alone and with its derivatives, reverse and forward, for all inputs and for each alone."""
    import torch

    wanted = [i for i, x in enumerate(inputs) if isinstance(x, torch.Tensor) and x.requires_grad]
    f(*[x.detach() if isinstance(x, torch.Tensor) else x for x in inputs])
    for some in [wanted, *([i] for i in wanted)]:
        given = [x.detach() if isinstance(x, torch.Tensor) else x for x in inputs]
        for i in some:
            given[i].requires_grad_()
        outputs = f(*given)
        outputs = [y for y in (outputs if isinstance(outputs, tuple) else (outputs,)) if y.is_floating_point()]
        points = [given[i] for i in some]
        first = torch.autograd.grad(sum((y * y).sum() for y in outputs), points, create_graph=second)
        if second:
            torch.autograd.grad(sum((g * g).sum() for g in first), points, allow_unused=True)
        with torch.autograd.forward_ad.dual_level():
            for i in some:
                given[i] = torch.autograd.forward_ad.make_dual(given[i].detach(), torch.ones_like(given[i]))
            f(*given)


def _for_a_gpu(f: Any) -> None:
    """Build the PTX that calls with these and fewer inputs ask for."""
    from ffgrad.errors import DifferentiationError

    native = f._native
    possible = [i for i in range(len(native.inputs)) if native.differentiable >> i & 1]
    masks = {native.differentiable, *(1 << i for i in possible)}
    if len(possible) == 3:
        masks |= {native.differentiable & ~(1 << i) for i in possible}
    for batched in (None, 1):
        native.ptx(["primal"], 0, "sm_80", batched)
        for mask in masks:
            native.ptx(["vjp", "jvp"], mask, "sm_80", batched)
            for entry in ("hvp", "jvp2"):
                try:
                    native.ptx([entry], mask, "sm_80", batched)
                except DifferentiationError:
                    break  # shared memory


def copy(folder: Path, *packages: str) -> None:
    """Copy installed packages, all of Python alone, into a folder."""
    for package in packages:
        for file in importlib.metadata.files(package) or ():
            if file.parts[0] != ".." and "__pycache__" not in file.parts:
                target = folder / file
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(str(file.locate()), target)


if __name__ == "__main__" and sys.argv[1] == "copy":
    copy(Path(sys.argv[2]), *sys.argv[3:])
    sys.exit()

patch()

if __name__ == "__main__":
    if sys.argv[1] == "fill":
        fill(Path(sys.argv[2]))
    else:
        run(*sys.argv[2:])
