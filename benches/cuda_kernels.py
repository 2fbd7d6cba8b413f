"""CUDA kernels: the gradient's time over the primal's, compared with PyTorch's own for the same mathematics.

    make bench-cuda                          # on a GPU; results with device and date in benches/results/
    make bench-cuda ARGS="--device cpu"      # on the CPU as a device; printed only

The kernels are those of ``tests/cases/cuda`` in the kinds of the table of Moses et al. (SC'21): lattice Boltzmann, a stencil,
cross-section look-up, particle forces, a matrix-free finite-element operator. Times are medians of several rounds, on a
GPU between CUDA events. Also there: the bandwidth of the elementwise kernel beside the device's own copy, and what a
launch costs beside the driver's own and PyTorch's smallest. NVIDIA Warp is beside it where it is installed, for the rows of
``warp_kernels.py``.
"""

from __future__ import annotations

import argparse
import ctypes
import datetime
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import warp_kernels
from ffgrad.torch import Enzyme, enzyme

HERE = Path(__file__).resolve().parent
KERNELS = HERE.parent / "tests/cases/cuda"


def main() -> None:
    """Measure and print; write a file where it was a GPU."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument(
        "--scale", type=int, default=0, help="side of the arrays (default: 1024 on a GPU, 48 on the CPU)"
    )
    options = parser.parse_args()
    if options.device == "cuda" and not torch.cuda.is_available():
        sys.exit('there is no GPU: `make bench-cuda ARGS="--device cpu"` measures the CPU as a device')
    side = options.scale or (1024 if options.device == "cuda" else 48)
    rows = [row for make in PROBLEMS for row in [measured(*make(side, options.device), options)]]
    name = torch.cuda.get_device_name() if options.device == "cuda" else "CPU as a device"
    print(f"{name}, arrays of {side} x {side} or as many elements; µs, medians of {options.rounds}\n")
    print(
        f"{'kernel':20}{'primal':>12}{'gradient':>12}{'over primal':>13}{'torch eager':>13}{'torch compiled':>16}{'Warp':>10}"
    )
    for row in rows:
        others = [f"{row[k]:.1f}" if row[k] else "-" for k in ("torch", "compiled", "warp")]
        print(
            f"{row['kernel']:20}{row['primal']:12.1f}{row['gradient']:12.1f}{row['gradient'] / row['primal']:13.2f}",
            end="",
        )
        print(f"{others[0]:>13}{others[1]:>16}{others[2]:>10}")
    more = {"launch": launch(options), "bandwidth": bandwidth(side, options)} if options.device == "cuda" else {}
    for title, figures in more.items():
        print(f"\n{title}: " + ", ".join(f"{key} {value:.1f}" for key, value in figures.items()))
    if options.device == "cuda":
        day = datetime.date.today().isoformat()
        (HERE / "results").mkdir(exist_ok=True)
        path = HERE / "results" / f"{day}-cuda-{name.lower().replace(' ', '-')}.json"
        record = {"device": name, "date": day, "torch": torch.__version__, "side": side, "rows": rows, **more}
        path.write_text(json.dumps(record, indent=1) + "\n")
        print(f"\nwritten: {path}")


Problem = tuple[str, Enzyme, list[Any], Callable[..., torch.Tensor] | None]


def measured(
    name: str, f: Enzyme, inputs: list[Any], same: Callable[..., torch.Tensor] | None, options: Any
) -> dict[str, Any]:
    """Time one kernel; ``same`` is its mathematics in PyTorch, where that is short."""
    compiled = torch.compile(same) if same is not None and options.device == "cuda" else None
    plain = [x.detach() if isinstance(x, torch.Tensor) else x for x in inputs]
    return {
        "kernel": name,
        "primal": median(lambda: f(*plain), options),
        "gradient": gradient(f, inputs, options),
        "torch": gradient(same, inputs, options) if same else None,
        "compiled": gradient(compiled, inputs, options) if compiled else None,
        "warp": by_warp(name, f, inputs, options),
    }


def by_warp(name: str, f: Enzyme, inputs: list[Any], options: Any) -> float | None:
    """Time the reverse pass in NVIDIA Warp, if it gives the same gradients."""
    y = f(*inputs)
    seed = torch.rand_like(y)
    found = warp_kernels.same(name, inputs, seed)
    if found is None:
        return None
    _, reverse = found
    for ours, theirs in zip(torch.autograd.grad(y, inputs, seed), reverse(), strict=True):
        torch.testing.assert_close(theirs, ours, rtol=1e-9, atol=1e-9)
    return median(reverse, options)


def gradient(f: Callable[..., Any], inputs: list[Any], options: Any) -> float:
    """Time the reverse pass alone."""
    y = f(*inputs)
    seed = torch.ones_like(y)
    wanted = [x for x in inputs if isinstance(x, torch.Tensor) and x.requires_grad]
    return median(lambda: torch.autograd.grad(y, wanted, seed, retain_graph=True), options)


def median(call: Callable[[], Any], options: Any) -> float:
    """Return microseconds."""
    for _ in range(3):
        call()
    times = []
    for _ in range(options.rounds):
        if options.device == "cuda":
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
            call()
            end.record()
            torch.cuda.synchronize()
            times.append(start.elapsed_time(end) * 1e3)
        else:
            began = time.perf_counter()
            call()
            times.append((time.perf_counter() - began) * 1e6)
    return statistics.median(times)


def launch(options: Any) -> dict[str, float]:
    """Return the time between two calls on one element, host and GPU together; of reverse passes too."""
    f = enzyme(KERNELS / "pointwise.cu", "pointwise", "x[n], y[n], a -> out[n]")
    x, a = torch.ones(1, dtype=torch.double, device="cuda"), torch.ones((), dtype=torch.double, device="cuda")
    bare = raw(f, [x, x, a, torch.empty_like(x), 1])
    inputs = [v.clone().requires_grad_() for v in (x, x, a)]
    return {
        "ffgrad": median(lambda: f(x, x, a), options),
        "driver alone": median(bare, options),
        "torch": median(lambda: x + x, options),
        "ffgrad with grad": median(lambda: f(*inputs), options),
        "ffgrad reverse": gradient(f, inputs, options),
        "torch reverse": gradient(lambda u, v, w: u * v * w, inputs, options),
    }


def raw(f: Enzyme, parameters: list[Any]) -> Callable[[], Any]:
    """Return a launch of the same code by the driver's own function, and nothing else."""
    driver = ctypes.CDLL("libcuda.so.1")
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    text, _, _ = f._native.ptx(["primal"], 0, "sm_80")

    def call(name: str, *given: Any) -> None:
        code = getattr(driver, name)(*given)
        if code:
            raise RuntimeError(f"{name} gave the error {code}")

    call("cuModuleLoadData", ctypes.byref(module), text.encode() + b"\0")
    call("cuModuleGetFunction", ctypes.byref(function), module, b"ffgrad_primal")
    addresses = [p.data_ptr() if isinstance(p, torch.Tensor) else p for p in parameters]
    # The pool stands last; a primal has none.
    values = [ctypes.c_uint64(v) for v in (*addresses, 0)]
    pointers = (ctypes.c_void_p * len(values))(*[ctypes.addressof(v) for v in values])
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    size = [ctypes.c_uint(n) for n in (1, 1, 1, 32, 1, 1, 0)]
    # What the addresses belong to lives as long as the function.
    return lambda kept=(values, parameters): call("cuLaunchKernel", function, *size, stream, pointers, None)  # type: ignore[misc]


def bandwidth(side: int, options: Any) -> dict[str, float]:
    """Return GB/s of the elementwise kernel (two arrays read, one written) and of a copy."""
    _, f, (x, y, a), _ = pointwise(side, "cuda")
    copy = torch.empty_like(x)
    size = x.numel() * 8 / 1e3
    kernel = 3 * size / median(lambda: f(x.detach(), y.detach(), a.detach()), options)
    return {"kernel": kernel, "copy": 2 * size / median(lambda: copy.copy_(x.detach()), options)}


def random(*shape: int, device: str) -> torch.Tensor:
    """Return numbers between 0.5 and 1.5 that want a gradient."""
    return (0.5 + torch.rand(shape, dtype=torch.double, device=device)).requires_grad_()


def pointwise(side: int, device: str) -> Problem:
    """Elementwise."""
    f = enzyme(KERNELS / "pointwise.cu", "pointwise", "x[n], y[n], a -> out[n]")
    inputs = [random(side * side, device=device), random(side * side, device=device), random(device=device)]
    return "pointwise", f, inputs, lambda x, y, a: a * x + y.sin() * (-x * x).exp() + (1 + y * y) ** a


def stencil(side: int, device: str) -> Problem:
    """Heat, one step."""
    options: Any = {"grid": ["(cols+31)//32", "(rows+7)//8"], "block": [32, 8]}
    f = enzyme(KERNELS / "heat_step.cu", "heat_step", "u[rows,cols], alpha -> v[rows,cols]", **options)

    def same(u: torch.Tensor, alpha: torch.Tensor) -> torch.Tensor:
        inner = u[1:-1, 1:-1]
        lap = u[1:-1, :-2] + u[1:-1, 2:] + u[:-2, 1:-1] + u[2:, 1:-1] - 4 * inner
        step = torch.nn.functional.pad(alpha * lap * (1 + 0.1 * inner), (1, 1, 1, 1))
        return u + step

    return "stencil", f, [random(side, side, device=device), random(device=device)], same


def boltzmann(side: int, device: str) -> Problem:
    """Lattice Boltzmann, one step."""
    options: Any = {"grid": ["(cols+31)//32", "(rows+7)//8"], "block": [32, 8]}
    f = enzyme(KERNELS / "lattice_boltzmann.cu", "lbm", "f[9,rows,cols], omega -> g[9,rows,cols]", **options)
    return "lattice Boltzmann", f, [random(9, side, side, device=device), random(device=device)], None


def cross_sections(side: int, device: str) -> Problem:
    """XSBench's look-up."""
    signature = "const energy[points], table[nuclides,points], density[nuclides], at[n] -> total[n]"
    f = enzyme(KERNELS / "cross_sections.cu", "lookup", signature)
    energy = torch.linspace(0, 1, 1000, dtype=torch.double, device=device)
    at = (0.01 + 0.98 * torch.rand(side * side, dtype=torch.double, device=device)).requires_grad_()
    return "cross sections", f, [energy, random(12, 1000, device=device), random(12, device=device), at], None


def forces(side: int, device: str) -> Problem:
    """Particles, all pairs."""
    signature = "position[n,2], mass[n], soft -> force[n,2]"
    f = enzyme(KERNELS / "particle_forces.cu", "forces", signature, grid="(n+31)//32", block=32)

    def same(position: torch.Tensor, mass: torch.Tensor, soft: torch.Tensor) -> torch.Tensor:
        d = position[None] - position[:, None]
        strength = mass[:, None] * mass[None] * ((d * d).sum(-1) + soft * soft) ** -1.5
        return (strength[..., None] * d).sum(1)

    return (
        "particle forces",
        f,
        [random(4 * side, 2, device=device), random(4 * side, device=device), random(device=device)],
        same,
    )


def elements(side: int, device: str) -> Problem:
    """Matrix-free finite elements."""
    count, nodes = side * side, side * side // 2
    options: Any = {"grid": "(elements+127)//128", "block": 128}
    f = enzyme(KERNELS / "fem_apply.cu", "apply", "u[n], k[elements], nodes[elements,3] -> r[n]", **options)
    mesh = torch.randint(0, nodes, (count, 3), dtype=torch.int32, device=device)
    return "finite elements", f, [random(nodes, device=device), random(count, device=device), mesh], None


PROBLEMS = (pointwise, stencil, boltzmann, cross_sections, forces, elements)

if __name__ == "__main__":
    main()
