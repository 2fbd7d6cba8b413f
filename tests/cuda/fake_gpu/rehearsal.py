"""A plugin of pytest that rehearses ``test_cuda_gpu.py`` where there is no GPU.

The device "cuda" is the CPU, every call goes through the operators of CUDA tensors, and their launches through the driver made for
tests. Results say little: the CPU device computes both sides. But the tests' own code runs, and every piece of PTX that they will ask for
is built, or, with a kit's cache and no tools, found there.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

# Behind what is there: a kit has the other files at its own place.
sys.path += [str(Path(__file__).parent), str(Path(__file__).parents[2])]

import torch  # noqa: E402
from fake_driver import Driver  # noqa: E402
from torch.overrides import TorchFunctionMode  # noqa: E402

_folder = tempfile.mkdtemp(prefix="ffgrad-driver-")
_library = os.environ.get("FFGRAD_FAKE_CUDA", f"{_folder}/libcuda.so")
if "FFGRAD_FAKE_CUDA" not in os.environ:
    _source = Path(__file__).with_name("fake_cuda.c")
    subprocess.run(
        ["cc", "-std=gnu11", "-shared", "-fPIC", "-Wl,-soname,libcuda.so", "-o", _library, str(_source)], check=True
    )
DRIVER = Driver(ctypes.CDLL(_library, mode=ctypes.RTLD_GLOBAL))


class _OnTheCpu(TorchFunctionMode):
    """Makes the CPU's tensors where CUDA's are asked for."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if str(kwargs.get("device", "")).startswith("cuda"):
            kwargs["device"] = "cpu"
        args = tuple("cpu" if isinstance(a, str) and a.startswith("cuda") else a for a in args)
        return function(*args, **kwargs)


def _cases() -> None:
    from ffgrad._torch import cuda
    from support import cuda_cases

    inputs_of = cuda_cases.inputs_of
    cuda_cases.inputs_of = lambda case, device="cpu": inputs_of(case)
    original = cuda.kernel_of

    def kernel_of(spec: str) -> Any:
        if spec not in cuda._KERNELS:
            kernel = original(spec)
            native = kernel.native
            stand_in = cuda_cases.StandIn(native)
            kernel.native = _Noted(native, stand_in)
        return cuda._KERNELS[spec]

    cuda.kernel_of = kernel_of
    cuda._stream = lambda _: 0
    library = torch.library.Library("ffgrad", "IMPL")  # type: ignore[no-untyped-call]
    for name, operator in cuda.OPERATORS.items():
        library.impl(name, operator, "CPU")
    _kept.append(library)
    from ffgrad.torch import Enzyme

    Enzyme.apply = Enzyme.__call__ = lambda self, *inputs: self._on_gpu(inputs)  # type: ignore[method-assign]


class _Noted:
    """A native function whose launches are noted for the driver's callback."""

    def __init__(self, native: Any, stand_in: Any) -> None:
        self._native, self._stand_in = native, stand_in

    def __getattr__(self, name: str) -> Any:
        return getattr(self._native, name)

    def launch(self, entry: str, mask: int, target: Any, shapes: Any, slots: Any, batch: Any = None) -> Any:
        """Launch it."""
        DRIVER.native, DRIVER.lanes = self._stand_in, 1
        DRIVER.calls.append((entry, mask, shapes))
        asked = self._native.launch(entry, mask, target, shapes, slots, batch)
        if DRIVER.errors:
            raise DRIVER.errors.pop()
        return asked


# What needs more of CUDA than ffgrad does: PyTorch's own streams, graphs, compiler, autocast, and two kinds of tensors.
_NOT_HERE = (
    "autocast",
    "captured",
    "no_tensor_of_the_gpu",
    "in_a_capture",
    "current_stream",
    "first_pool",
    "modules_of_its_own",
    "compiled_by_torch",
    "together",
    "nvidia_smi",
)


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Leave out what cannot be rehearsed."""
    items[:] = [item for item in items if not any(word in item.name for word in _NOT_HERE)]


_kept: list[Any] = []
torch.cuda.is_available = lambda: True  # type: ignore[method-assign]
torch.cuda.is_current_stream_capturing = lambda: False
torch.cuda.device_count = lambda: 1  # type: ignore[method-assign]
torch.Tensor.cuda = lambda self, *_: self.clone()  # type: ignore[method-assign]
_mode = _OnTheCpu()
_mode.__enter__()
_cases()
