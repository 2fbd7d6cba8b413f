"""A foreign function as an ``nn.Module``, with trainable parameters of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import torch

from ffgrad._core import Options, Source
from ffgrad._plan import Plan
from ffgrad.errors import ArgumentError
from ffgrad.torch import enzyme

if TYPE_CHECKING:
    from typing_extensions import Unpack


class EnzymeModule(torch.nn.Module):
    """A C, C++ or Fortran function as a module.

    Inputs of the function that are named in ``parameters`` become trainable, those in ``buffers`` are kept as buffers; the module is
    called on the others, in their order or by name. It is pickled, copied and sent to other processes by the paths of
    its sources and its options, not by their content: where it arrives the sources must be there. Its state dict has the
    parameters and buffers.

    Parameters
    ----------
    source, function, signature, **options
        As :func:`ffgrad.torch.enzyme` takes them.
    parameters : mapping of str to tensor or number
        Initial values of the trainable inputs, by name. Tensors are copied; numbers and lists get the parameter's type.
    buffers : mapping of str to tensor or number
        Values of inputs that are always the same, by name; without a gradient.

    Attributes
    ----------
    operation : Enzyme
        The function.

    Raises
    ------
    CompileError, SignatureError, ToolchainError, CacheError
        The function does not open.
    ValueError
        ``parameters`` or ``buffers`` names what is no such input, or an input twice.
    """

    def __init__(
        self,
        source: Source | Iterable[Source],
        function: str,
        signature: str | None = None,
        *,
        parameters: Mapping[str, Any] | None = None,
        buffers: Mapping[str, Any] | None = None,
        **options: Unpack[Options],
    ) -> None:
        super().__init__()
        self.operation = enzyme(source, function, signature, **options)
        plan = self.operation._plan
        trainable = [n for i, n in enumerate(plan.names) if plan.differentiable >> i & 1]
        for name, value in (parameters or {}).items():
            _known(plan, name, trainable, "input that can have a gradient")
            self.register_parameter(name, torch.nn.Parameter(_as_tensor(plan, name, value)))
        for name, value in (buffers or {}).items():
            _known(plan, name, [n for n in plan.names if n not in self._parameters], "further input")
            self.register_buffer(name, _as_tensor(plan, name, value))
        self._own = frozenset((*(parameters or {}), *(buffers or {})))
        self._free = tuple(name for name in plan.names if name not in self._own)

    def forward(self, *inputs: Any, **named: Any) -> Any:
        """Call the function on the inputs that are no parameters and no buffers.

        Parameters
        ----------
        *inputs, **named
            As :meth:`ffgrad.torch.Enzyme.apply` takes them, in their order or by name.

        Returns
        -------
        Tensor or tuple of Tensor
            The outputs, in the order of the signature.

        Raises
        ------
        ArgumentError
            An input is missing, given twice, or unknown.
        Error
            As :meth:`ffgrad.torch.Enzyme.apply`.
        """
        given = dict(zip(self._free, inputs, strict=False))
        twice = [name for name in named if name in given or name not in self._free]
        missing = [name for name in self._free if name not in given and name not in named]
        if len(inputs) > len(self._free) or twice or missing:
            raise ArgumentError(f"the module takes {', '.join(f'`{n}`' for n in self._free)}, each once")
        given.update(named)
        return self.operation.apply(
            *[getattr(self, name) if name in self._own else given[name] for name in self.operation.inputs]
        )

    def extra_repr(self) -> str:
        """Return the function and its signature."""
        return f"{self.operation._plan.function}: {self.operation._plan.signature}"


def _known(plan: Plan, name: str, known: list[str], what: str) -> None:
    if name not in known:
        listed = ", ".join(f"`{n}`" for n in known)
        raise ArgumentError(f"`{plan.function}` has no {what} `{name}`\n  These are: {listed}.")


def _as_tensor(plan: Plan, name: str, value: Any) -> torch.Tensor:
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    return torch.tensor(value, dtype=plan.input_dtypes[plan.names.index(name)])
