"""Native competitors: the gradient by hand and Enzyme alone, compiled once and called through ctypes with ready arguments."""

from __future__ import annotations

import ctypes
import hashlib
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import raw_engine

from harness.problem import REPOSITORY, Problem, work_folder

HAND_FLAGS = {
    "hand": ["-O3", "-march=native"],
    "hand-fast": ["-O3", "-march=native", "-ffast-math"],
    "hand-vec": ["-O3", "-march=native", "-ffast-math", "-fveclib=libmvec"],
}


class Native:
    """A library with ``gradient`` and perhaps ``primal``, bound to the arguments of one problem.

    Attributes
    ----------
    gradients, outputs : dict
        The arrays that ``gradient`` fills, by input, and ``primal``, by output.
    note : str
        How it was compiled.
    """

    def __init__(self, problem: Problem, library: Path, note: str) -> None:
        self.note = note
        self.gradients = {name: np.zeros_like(problem.inputs[name]) for name in problem.wrt}
        self._library = ctypes.CDLL(str(library))
        self.outputs = {k: np.zeros_like(v) for k, v in problem.cotangents.items()}
        self._cotangents = {k: np.ascontiguousarray(v) for k, v in problem.cotangents.items()}
        self._problem = problem
        self.gradient = self._bind("gradient", problem.gradient, None)
        value = ctypes.c_double if "return" in problem.cotangents else None
        self.primal = self._bind("primal", problem.primal, value) if hasattr(self._library, "primal") else None

    def _bind(self, name: str, parameters: str, value: Any) -> Callable[[], Any]:
        function = getattr(self._library, name)
        function.restype = value
        arguments = [self._argument(parameter, name) for parameter in parameters.split()]
        return lambda: function(*arguments)

    def _argument(self, name: str, function: str) -> Any:
        problem = self._problem
        if name in problem.dims:
            return ctypes.c_int(problem.dims[name])
        if name in problem.inputs:
            value = problem.inputs[name]
            return ctypes.c_double(float(value)) if np.ndim(value) == 0 else _pointer(value)
        if function == "primal":
            return _pointer(self.outputs[name])
        known = self._cotangents if name[1:] in self._cotangents else self.gradients
        return _pointer(known[name[1:]])


def hand(problem: Problem, variant: str) -> Native:
    """Compile and bind the gradient by hand; ``variant`` is a key of :data:`HAND_FLAGS`.

    Raises
    ------
    raw_engine.MissingTool, raw_engine.EngineError
    """
    source, flags = problem.native_file("hand"), HAND_FLAGS[variant]
    cpp = source.suffix != ".c"

    def make(library: Path) -> str:
        code = library.with_suffix(".o")
        macros = [f"-D{d}" for d in problem.defines]
        command = [*raw_engine.compiler(cpp), *flags, *macros, "-fPIC", "-c", str(source), "-o", str(code)]
        raw_engine.run(command)
        raw_engine.link([code], library, cpp)
        return "clang " + " ".join(flags)

    return Native(problem, *_cached(problem, variant, flags, make))


def raw(problem: Problem) -> Native:
    """Differentiate with Enzyme alone, compile and bind.

    Raises
    ------
    raw_engine.MissingTool, raw_engine.EngineError
    """

    def make(library: Path) -> str:
        level = raw_engine.build(problem.native_file("raw"), library, problem.defines)
        return f"clang {level}, Enzyme, clang {' '.join(raw_engine.AFTER)}"

    return Native(problem, *_cached(problem, "raw", [], make))


def _cached(problem: Problem, kind: str, flags: list[str], make: Callable[[Path], str]) -> tuple[Path, str]:
    """Return library and note from the work folder, made first where they are not there."""
    sources = sorted({*problem.folder.glob("*.c*"), problem.source, REPOSITORY / "benches" / "raw_engine.py"})
    return cached(f"{problem.folder.name}-{kind}", (kind, flags, problem.defines), sources, make)


def cached(name: str, key: object, sources: Iterable[Path], make: Callable[[Path], str]) -> tuple[Path, str]:
    """Return a library of the work folder and how it was compiled, made first where it is not there.

    Parameters
    ----------
    name : str
        What the file's name begins with.
    key : object
        What it depends on beside clang, by its ``repr``.
    sources : iterable of path
        Files that it depends on.
    make : callable
        Writes the library at a path, and returns how it was compiled.
    """
    digest = hashlib.sha256(repr((key, str(raw_engine.clang()))).encode())
    for path in sources:
        digest.update(path.read_bytes())
    folder = work_folder() / "native"
    folder.mkdir(exist_ok=True)
    library = folder / f"{name}-{digest.hexdigest()[:16]}.so"
    note = library.with_suffix(".txt")
    if not note.exists():
        private = library.with_name(f"{library.stem}-{os.getpid()}.so")
        text = make(private)
        private.rename(library)
        note.write_text(text)
    return library, note.read_text()


def _pointer(array: np.ndarray) -> ctypes.c_void_p:
    assert array.flags.c_contiguous
    pointer = ctypes.c_void_p(array.ctypes.data)
    pointer.keep = array  # type: ignore[attr-defined]
    return pointer
