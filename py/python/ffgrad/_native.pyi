"""The native part of ffgrad; private."""

from collections.abc import Callable, Sequence
from typing import Any

__version__: str

def copies() -> dict[str, int]: ...
def add_worker_dir(folder: str) -> None: ...
def torch_register() -> bool: ...
def torch_failure(text: str) -> Exception | None: ...
def torch_warnings() -> None: ...

class Batch:
    """Which arrays of a call have leading batch dimensions; bit i of a mask stands for the i-th array.

    Such an array has all of them, each of the batch's size or 1; every other array is shared by all elements. One call
    with a batch is one native loop. Outputs have the batch dimensions. The gradient of a shared input is summed over
    the elements, unless its bit in ``separate`` asks for one an element.
    """

    def __init__(
        self, shape: Sequence[int], inputs: int = 0, cotangents: int = 0, tangents: int = 0, separate: int = 0
    ) -> None: ...

class Function:
    def __init__(
        self,
        sources: list[str],
        function: str,
        signature: str | None,
        options: str,
        array_type: type,
        allocate: Callable[[tuple[int, ...], str], Any],
    ) -> None: ...
    @property
    def differentiable(self) -> int: ...
    @property
    def has_integer_outputs(self) -> bool: ...
    @property
    def inputs(self) -> list[str]: ...
    @property
    def outputs(self) -> list[str]: ...
    def manifest(self) -> str: ...
    def register(self, spec: str) -> None: ...
    def primal(self, inputs: tuple[Any, ...], expected: int, batch: Batch | None = None) -> tuple[Any, ...]: ...
    def vjp(
        self, inputs: tuple[Any, ...], cotangents: tuple[Any, ...], mask: int, batch: Batch | None = None
    ) -> tuple[Any, ...]: ...
    def jvp(
        self, inputs: tuple[Any, ...], tangents: tuple[Any, ...], batch: Batch | None = None
    ) -> tuple[Any, ...]: ...
    def hvp(
        self,
        inputs: tuple[Any, ...],
        cotangents: tuple[Any, ...],
        tangents: tuple[Any, ...],
        mask: int,
        batch: Batch | None = None,
    ) -> tuple[Any, ...]: ...
