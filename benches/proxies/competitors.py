"""Who computes a kernel and its gradient: plain C, Enzyme alone, ffgrad serial, with OpenMP, and CUDA on the CPU."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import raw_engine
from ffgrad.numpy import Enzyme, enzyme
from harness.native import cached
from harness.problem import rng
from kernels import Kernel

HEAD = '#include "{source}"\n#include <string.h>\nextern int enzyme_dup, enzyme_const;\nvoid __enzyme_autodiff(void *, ...);\n'


@dataclass(frozen=True)
class Competitor:
    """A kernel's value and gradient, to be called without arguments.

    Attributes
    ----------
    primal, gradient : callable or None
        What is timed; ``None`` where there is none.
    result : callable or None
        Returns the gradients of the active inputs in order.
    """

    primal: Callable[[], Any] | None = None
    gradient: Callable[[], Any] | None = None
    result: Callable[[], list[np.ndarray]] | None = None


def cotangents(kernel: Kernel) -> list[np.ndarray]:
    """Return one for each output; the same in every competitor."""
    draw = rng(kernel.name)
    return [np.asarray(draw.normal(size=shape)) for shape in kernel.outputs.values()]


# --- ffgrad -------------------------------------------------------------------------------------------


def opened(kernel: Kernel, **options: Any) -> Enzyme:
    """Return the kernel as a differentiable operation."""
    return enzyme(kernel.path, kernel.function, kernel.signature, **{**kernel.options, **options})


def ffgrad(kernel: Kernel, **options: Any) -> Competitor:
    """Return the native entry points: arrays in, new arrays out."""
    f = opened(kernel, **options)
    native, mask = f._native, f._differentiable
    given, seeds = tuple(kernel.inputs.values()), tuple(cotangents(kernel))

    def result() -> list[np.ndarray]:
        found = dict(zip(kernel.inputs, native.vjp(given, seeds, mask), strict=True))
        return [found[name] for name in kernel.active]

    return Competitor(lambda: native.primal(given, 0), lambda: native.vjp(given, seeds, mask), result)


# --- compiled by hand ---------------------------------------------------------------------------------


class Bound:
    """A compiled C function with ready arguments."""

    def __init__(self, kernel: Kernel, library: Path) -> None:
        self._library = ctypes.CDLL(str(library))
        self._kernel = kernel
        self._seeds = dict(zip(kernel.outputs, cotangents(kernel), strict=True))
        # Outputs, and inputs that are updated in place: every call starts from the caller's.
        self.values = {n: np.zeros(shape) for n, shape in kernel.outputs.items()}
        self.shadows = {n: np.zeros_like(kernel.inputs[n]) for n in kernel.active}

    def call(self, name: str, gradient: bool) -> Callable[[], None]:
        """Return the call of a function: the kernel's parameters, for the gradient with cotangents and shadows."""
        function = getattr(self._library, name)
        function.restype = None
        arguments: list[Any] = []
        for parameter in self._kernel.parameters.split():
            arguments += self._arguments(parameter, gradient)
        moved = [(self.values[n], self._kernel.inputs[n]) for n in self.values if n in self._kernel.inputs]

        def call(keep: Bound = self) -> None:  # the addresses are those of its arrays
            for to, start in moved:
                to[...] = start
            function(*arguments)

        return call

    def _arguments(self, name: str, gradient: bool) -> list[Any]:
        kernel = self._kernel
        if name in kernel.dims:
            return [ctypes.c_int(kernel.dims[name])]
        if name in self.values:
            found = [self.values[name]]
            found += [self.shadows[name]] if gradient and name in self.shadows else []
            found += [self._seeds[name]] if gradient else []
        else:
            value = kernel.inputs[name]
            if isinstance(value, int | float):
                return [ctypes.c_int(value) if isinstance(value, int) else ctypes.c_double(value)]
            found = [value]
            found += [self.shadows[name]] if gradient and name in self.shadows else []
        return [ctypes.c_void_p(array.ctypes.data) for array in found]


def bound_plain(kernel: Kernel) -> Bound:
    """Return the kernel compiled by ``clang -O3 -march=native``."""

    def make(library: Path) -> str:
        code = library.with_suffix(".o")
        command = [str(raw_engine.clang()), *raw_engine.AFTER, "-fPIC", "-c", str(kernel.path), "-o", str(code)]
        raw_engine.run(command)
        raw_engine.link([code], library, cpp=False)
        return "clang " + " ".join(raw_engine.AFTER)

    return Bound(kernel, _cached(kernel, "plain", make))


def plain(kernel: Kernel) -> Competitor:
    """Return plain C."""
    return Competitor(bound_plain(kernel).call(kernel.function, gradient=False))


def raw(kernel: Kernel) -> Competitor:
    """Return Enzyme alone: the same source, ``__enzyme_autodiff``, and nothing of ffgrad."""

    def make(library: Path) -> str:
        source = library.with_suffix(".c")
        source.write_text(wrapper(kernel))
        return raw_engine.build(source, library)

    bound = Bound(kernel, _cached(kernel, "raw", make))
    gradient = bound.call("gradient", gradient=True)

    def result() -> list[np.ndarray]:
        gradient()
        return [bound.shadows[n].copy() for n in kernel.active]

    return Competitor(gradient=gradient, result=result)


def wrapper(kernel: Kernel) -> str:
    """Return what a user of Enzyme alone writes; shadows and cotangents come in, gradients go out."""
    declared, before, call = [], [], [f"(void *){kernel.function}"]
    for name in kernel.parameters.split():
        value = kernel.inputs.get(name)
        if name in kernel.outputs:
            shape = "*".join(str(n) for n in kernel.outputs[name])
            size = f"sizeof(double) * {shape}"
            declared += [f"double *{name}"]
            shadow = f"d_{name}"
            if value is not None:  # in place: the cotangent goes in where the gradient comes out
                declared += [f"double *{shadow}"]
            else:
                before += [f"static double {shadow}[{shape}];"]
            declared += [f"const double *seed_{name}"]
            before += [f"memcpy({shadow}, seed_{name}, {size});"]
            call += ["enzyme_dup", name, shadow]
        elif name in kernel.active:
            declared += [f"const double *{name}", f"double *d_{name}"]
            before += [f"memset(d_{name}, 0, sizeof(double) * {np.size(value)});"]
            call += ["enzyme_dup", name, f"d_{name}"]
        elif isinstance(value, np.ndarray):
            declared += [f"const int *{name}"]
            call += ["enzyme_const", name]
        else:
            declared += [f"{'double' if isinstance(value, float) else 'int'} {name}"]
            call += ["enzyme_const", name]
    body = "".join(f"  {line}\n" for line in [*before, f"__enzyme_autodiff({', '.join(call)});"])
    return HEAD.format(source=kernel.path) + f"void gradient({', '.join(declared)}) {{\n{body}}}\n"


def _cached(kernel: Kernel, kind: str, make: Callable[[Path], str]) -> Path:
    sources = (kernel.path, Path(__file__), Path(raw_engine.__file__))
    return cached(f"proxy-{kernel.function}-{kind}", (kind, wrapper(kernel)), sources, make)[0]
