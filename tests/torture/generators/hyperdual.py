"""The derivatives of generated programs, computed without ffgrad: the same text compiled as C++ on hyper-dual numbers.

A compiler of the system is used where there is one, else ffgrad's clang; in both cases without any part of Enzyme. Central
differences of the C program itself, computed in :mod:`gradients`, hold the hyper-dual numbers to account.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from torture.generators.generator import Program

HERE = Path(__file__).resolve().parent

# The columns of a hyper-dual array: value, derivative along a, along b, along both; and a mark that distinguishes copies from equal numbers.
PARTS = 5


@dataclass
class Truth:
    """What a program computes at a point, with its derivatives."""

    value: np.ndarray
    jacobian: np.ndarray
    """Outputs by inputs."""
    hessian_along: np.ndarray
    """For each output, the Hessian times the tangent."""
    nearest_tie: float


def wrapper(program: Program) -> str:
    """Return a C function that calls the program on hyper-dual numbers; all inputs in one array, all outputs in one."""
    name = program.name
    begin = f'extern "C" double r_{name}(real *in, int n, real *out) {{\n  nearest_tie = 1e300;\n'
    calls = {
        "map": f"{name}(in, n, out);",
        "in_place": f"memcpy((void *)out, in, n * sizeof(real)); {name}(out, n);",
        "number": f"out[0] = {name}(in, n);",
        "two_inputs": f"{name}(in, in + n, n, out);",
        "scalar": f"{name}(in, in[n], n, out);",
        "several_outputs": f"{name}(in, n, out, out + n);",
        "scratch": f"real *w = (real *)calloc(2 * n, sizeof(real)); {name}(in, n, out, w); free(w);",
    }
    return f"{begin}  {calls[program.shape]}\n  return nearest_tie;\n}}\n"


def sizes(program: Program, n: int) -> tuple[int, int]:
    """Return how many numbers go in and come out."""
    inputs = {"two_inputs": 2 * n, "scalar": n + 1}.get(program.shape, n)
    outputs = {"number": 1, "several_outputs": n + 3}.get(program.shape, n)
    return inputs, outputs


class Reference:
    """The compiled reference of several programs."""

    def __init__(self, programs: list[Program], folder: Path, compiler: str | None = None) -> None:
        compiler = compiler or shutil.which("g++") or shutil.which("c++") or shutil.which("clang++")
        if compiler is None:
            raise RuntimeError("no C++ compiler for the reference")
        source, library = folder / "reference.cpp", folder / "reference.so"
        bodies = [p.text.replace("inline real", "real") + wrapper(p) for p in programs]
        source.write_text(f'#include "{HERE / "reference.hpp"}"\n' + "\n".join(bodies))
        command = [compiler, "-std=c++17", "-O1", "-w", "-fpermissive", "-fno-math-errno", "-shared", "-fPIC"]
        subprocess.run([*command, str(source), "-o", str(library), "-lm"], check=True, capture_output=True)
        self._library = ctypes.CDLL(str(library))

    def _run(self, program: Program, numbers: np.ndarray, n: int) -> tuple[np.ndarray, float]:
        function = self._library[f"r_{program.name}"]
        function.restype = ctypes.c_double
        out = np.zeros((sizes(program, n)[1], PARTS))
        numbers = np.ascontiguousarray(numbers)
        tie = function(ctypes.c_void_p(numbers.ctypes.data), ctypes.c_int(n), ctypes.c_void_p(out.ctypes.data))
        return out, float(tie)

    def at(self, program: Program, point: np.ndarray, tangent: np.ndarray, n: int) -> Truth:
        """Return value, Jacobian and second derivatives along a tangent."""
        inputs, outputs = sizes(program, n)
        jacobian, second = np.zeros((outputs, inputs)), np.zeros((outputs, inputs))
        value, tie = np.zeros(outputs), np.inf
        for j in range(inputs):
            numbers = np.zeros((inputs, PARTS))
            numbers[:, 0], numbers[:, 2], numbers[j, 1] = point, tangent, 1.0
            numbers[:, 4] = np.arange(1, inputs + 1)
            out, gap = self._run(program, numbers, n)
            value, jacobian[:, j], second[:, j] = out[:, 0], out[:, 1], out[:, 3]
            tie = min(tie, gap)
        return Truth(value, jacobian, second, tie)
