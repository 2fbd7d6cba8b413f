"""What one call costs beyond the work, at n = 16: ffgrad beside what one would write by hand.

python -m harness.overhead --out FILE [--quick]
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import raw_engine
from measure import one_thread, reason, say

from harness import timing
from harness.problem import BENCHES, REPOSITORY, work_folder

FOLDER = BENCHES / "overhead"
N = 16


def competitors() -> tuple[dict[str, Callable[..., Any]], dict[str, str]]:
    """Return the functions that can be built here, and why the others cannot."""
    makers = {"ffgrad": _ffgrad, "ctypes": _ctypes, "C++ extension": _extension, "PyTorch eager": _eager}
    built: dict[str, Callable[..., Any]] = {}
    skipped: dict[str, str] = {}
    for name, maker in makers.items():
        say(f"overhead: building {name}")
        try:
            built[name] = maker()
        except Exception as error:
            skipped[name] = reason(error)
    return built, skipped


def _ffgrad() -> Callable[..., Any]:
    from ffgrad.torch import enzyme

    return enzyme(REPOSITORY / "examples" / "test.c", "f").apply


def _eager() -> Callable[..., Any]:
    import torch

    return lambda x: x * torch.sin(x)


def _ctypes() -> Callable[..., Any]:
    """A Python ``autograd.Function`` that calls the compiled C by ctypes."""
    import torch

    source = FOLDER / "overhead.c"
    text = source.read_bytes() + (REPOSITORY / "examples" / "test.c").read_bytes()
    library = work_folder() / f"overhead-{hashlib.sha256(text).hexdigest()[:16]}.so"
    if not library.exists():
        code = library.with_suffix(".o")
        raw_engine.run(
            [*raw_engine.compiler(False), "-O3", "-march=native", "-fPIC", "-c", str(source), "-o", str(code)]
        )
        raw_engine.link([code], library, False)
    native = ctypes.CDLL(str(library))
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    native.f.argtypes, native.f.restype = [pointer, size, pointer], None
    native.f_gradient.argtypes, native.f_gradient.restype = [pointer, size, pointer, pointer], None

    class Map(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            ctx.save_for_backward(x)
            y = torch.empty_like(x)
            native.f(x.data_ptr(), x.numel(), y.data_ptr())
            return y

        @staticmethod
        def backward(ctx: Any, dy: torch.Tensor) -> torch.Tensor:
            (x,) = ctx.saved_tensors
            dx = torch.empty_like(x)
            seed = dy.contiguous()
            native.f_gradient(x.data_ptr(), x.numel(), seed.data_ptr(), dx.data_ptr())
            return dx

    return Map.apply


def _extension(folder: Path | None = None) -> Callable[..., Any]:
    from torch.utils import cpp_extension

    target = folder or work_folder() / "extension"
    target.mkdir(parents=True, exist_ok=True)
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    module = cpp_extension.load_inline(
        name="ffgrad_bench_extension",
        cpp_sources=(FOLDER / "extension.cpp").read_text(),
        functions=["map"],
        extra_cflags=["-O3", "-march=native"],
        extra_include_paths=[str(FOLDER)],
        build_directory=str(target),
    )
    return module.map


def measure(effort: timing.Effort) -> dict[str, Any]:
    """Time each competitor's forward, forward without gradients, and forward with ``torch.autograd.grad``."""
    import torch

    torch.set_num_threads(1)
    built, skipped = competitors()
    x = torch.linspace(-2.0, 2.0, N, requires_grad=True)
    plain, seed = x.detach(), torch.ones(N)
    expected = torch.sin(plain) + plain * torch.cos(plain)

    functions: dict[str, Callable[[], Any]] = {}
    for name, function in built.items():
        gradient = _gradient(function, x, seed)
        if not torch.allclose(gradient()[0], expected, rtol=1e-5, atol=1e-6):
            skipped[name] = "its gradient is wrong"
            continue
        functions[f"{name}|forward, no gradient asked"] = _bind(function, plain)
        functions[f"{name}|forward"] = _bind(function, x)
        functions[f"{name}|forward + autograd.grad"] = gradient
    say("overhead: timing")
    times = timing.interleave(functions, effort)
    table: dict[str, dict[str, Any]] = {}
    for key, value in times.items():
        name, what = key.split("|")
        table.setdefault(what, {})[name] = value.as_dict()
    return {"n": N, "table": table, "skipped": skipped}


def _bind(function: Callable[..., Any], x: Any) -> Callable[[], Any]:
    return lambda: function(x)


def _gradient(function: Callable[..., Any], x: Any, seed: Any) -> Callable[[], Any]:
    from torch.autograd import grad

    return lambda: grad(function(x), x, seed)


def main() -> None:
    """Parse the command line, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--extension", type=Path, help="only build the C++ extension in this folder, timed")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    one_thread()
    if arguments.extension:
        import torch
        import torch.utils.cpp_extension

        start = time.perf_counter()
        x = torch.linspace(-2.0, 2.0, 5, requires_grad=True)
        _extension(arguments.extension)(x).sum().backward()
        answer: dict[str, Any] = {"seconds": time.perf_counter() - start}
    else:
        answer = measure(timing.QUICK if arguments.quick else timing.FULL)
    arguments.out.write_text(json.dumps(answer))


if __name__ == "__main__":
    main()
    os._exit(0)
