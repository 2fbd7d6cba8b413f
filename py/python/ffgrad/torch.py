"""PyTorch: a foreign function as a differentiable operation.

    from ffgrad.torch import enzyme

    f = enzyme("test.c", "f")
    y = f.apply(x)            # or f(x)
    y.sum().backward()

Contiguous tensors are passed as they lie. Outputs are allocated by PyTorch.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable
from typing import Any

import torch
from torch.autograd import forward_ad
from typing_extensions import Unpack

from ffgrad import _native
from ffgrad._core import Options, Source, open_function

__all__ = ["Enzyme", "enzyme"]


def _allocate(shape: tuple[int, ...], dtype: str) -> torch.Tensor:
    return torch.empty(shape, dtype=getattr(torch, dtype))


class _Call(torch.autograd.Function):
    """One call, as autograd sees it."""

    @staticmethod
    def forward(ctx: Any, native: _native.Function, *inputs: Any) -> Any:
        ctx.set_materialize_grads(False)
        ctx.native = native
        ctx.numbers = None
        tensors = inputs
        if not all(map(_is_tensor, inputs)):
            ctx.numbers = tuple(None if _is_tensor(x) else x for x in inputs)
            tensors = tuple(x for x in inputs if _is_tensor(x))
        ctx.save_for_backward(*tensors)
        if forward_ad._current_level >= 0:
            ctx.save_for_forward(*tensors)
        outputs = native.primal(inputs, _mask(ctx.needs_input_grad))
        if native.has_integer_outputs:
            ctx.mark_non_differentiable(*[y for y in outputs if not y.is_floating_point()])
        return outputs if len(outputs) > 1 else outputs[0]

    @staticmethod
    def backward(ctx: Any, *cotangents: torch.Tensor | None) -> tuple[Any, ...]:
        mask = _mask(ctx.needs_input_grad)
        inputs = _inputs(ctx)
        if torch.is_grad_enabled():
            return (None, *_Gradient.apply(ctx.native, mask, len(inputs), *inputs, *cotangents))
        return (None, *ctx.native.vjp(inputs, cotangents, mask))

    @staticmethod
    def jvp(ctx: Any, _: None, *tangents: torch.Tensor | None) -> Any:
        outputs = ctx.native.jvp(_inputs(ctx), tangents)
        return outputs if len(outputs) > 1 else outputs[0]


class _Gradient(torch.autograd.Function):
    """The gradient of a call, differentiable once more (``create_graph=True``).

    In direction v it is differentiated by the forward mode of the reverse mode with respect to the inputs, and by the
    forward mode alone with respect to the cotangents, in which it is linear.
    """

    @staticmethod
    def forward(ctx: Any, native: _native.Function, mask: int, count: int, *arguments: Any) -> Any:
        ctx.set_materialize_grads(False)
        ctx.native, ctx.mask, ctx.count = native, mask, count
        ctx.numbers = tuple(None if isinstance(x, torch.Tensor) else (x,) for x in arguments)
        ctx.save_for_backward(*[x for x in arguments if isinstance(x, torch.Tensor)])
        return native.vjp(arguments[:count], arguments[count:], mask)

    @staticmethod
    def backward(ctx: Any, *directions: torch.Tensor | None) -> tuple[Any, ...]:
        saved = iter(ctx.saved_tensors)
        arguments = tuple(next(saved) if number is None else number[0] for number in ctx.numbers)
        inputs, cotangents = arguments[: ctx.count], arguments[ctx.count :]
        needs = ctx.needs_input_grad[3:]
        wanted = sum(1 << i for i, need in enumerate(needs[: ctx.count]) if need) & ctx.mask
        if all(d is None for d in directions):
            return (None,) * (3 + len(arguments))
        second = ctx.native.hvp(inputs, cotangents, directions, wanted) if wanted else (None,) * ctx.count
        first = ctx.native.jvp(inputs, directions) if any(needs[ctx.count :]) else (None,) * len(cotangents)
        first = tuple(None if v is None else y for v, y in zip(cotangents, first, strict=True))
        return (None, None, None, *_undifferentiable((*second, *first)))


def _undifferentiable(tensors: tuple[Any, ...]) -> tuple[Any, ...]:
    """Make a further derivative an error instead of a missing term."""
    if not torch.is_grad_enabled():
        return tensors
    message = (
        "third derivatives of a foreign function are not available\n"
        "  Leave out create_graph=True at the second derivative, or detach it."
    )
    refuse = torch._C._functions.DelayedError(message, 1)
    return tuple(None if x is None else refuse(x.detach().requires_grad_()) for x in tensors)


def _is_tensor(x: Any) -> bool:
    return isinstance(x, torch.Tensor)


@functools.lru_cache(maxsize=1024)
def _mask(needs: tuple[bool, ...]) -> int:
    """Bit i is set where input i needs a gradient; the first of ``needs`` is the native function's."""
    return sum(1 << i for i, need in enumerate(needs[1:]) if need)


def _inputs(ctx: Any) -> tuple[Any, ...]:
    if ctx.numbers is None:
        tensors: tuple[Any, ...] = ctx.saved_tensors
        return tensors
    saved = iter(ctx.saved_tensors)
    return tuple(next(saved) if number is None else number for number in ctx.numbers)


class Enzyme:
    """A foreign function, differentiable; made by :func:`enzyme`.

    Attributes
    ----------
    inputs : list of str
        Names of the inputs, in the order in which calls take them.
    outputs : list of str
        Names of the outputs, in the order in which calls return them.
    signature : str
        The signature in use, defaults included.
    """

    def __init__(self, native: _native.Function) -> None:
        self._native = native
        self.inputs = native.inputs
        self.outputs = native.outputs

    def __call__(self, *inputs: torch.Tensor | float | int | bool) -> Any:
        """Call the function; see :meth:`apply`."""
        return self.apply(*inputs)

    def apply(self, *inputs: torch.Tensor | float | int | bool) -> Any:
        """Call the function.

        Parameters
        ----------
        *inputs
            One tensor an input, of exactly the parameter's element type, on the CPU; numbers for scalars, which are
            then constant. A 0-d tensor is a scalar with a gradient. Contiguous tensors are not copied.

        Returns
        -------
        Tensor or tuple of Tensor
            The outputs, in the order of the signature.

        Raises
        ------
        ShapeError, DtypeError, DeviceError, SignatureError
            The inputs do not fit, with the parameter's name.
        DifferentiationError
            An input requires a gradient and none can be given.
        ForeignError
            The function threw a C++ exception.
        """
        if torch.is_grad_enabled() or forward_ad._current_level >= 0:
            return _Call.apply(self._native, *inputs)
        outputs = self._native.primal(inputs, 0)
        return outputs if len(outputs) > 1 else outputs[0]

    @property
    def signature(self) -> str:
        """The signature in use, defaults included."""
        return str(self.manifest["plan"]["signature"])

    @property
    def manifest(self) -> dict[str, Any]:
        """Prototype, call plan, tools and commands, as ``ffgrad show`` prints them."""
        manifest: dict[str, Any] = json.loads(self._native.manifest())
        return manifest

    def __repr__(self) -> str:
        """Return the function and its signature."""
        manifest = self.manifest
        return f"<enzyme {manifest['prototype']['function']}: {manifest['plan']['signature']}>"


def enzyme(
    source: Source | Iterable[Source],
    function: str,
    signature: str | None = None,
    **options: Unpack[Options],
) -> Enzyme:
    """Make a C or C++ function a differentiable operation.

    Parameters
    ----------
    source
        The source file, or several that belong together.
    function
        Name of the function: a C name, a C++ name (``"ns::f"``, ``"ns::f(double const*, int)"`` where overloaded) or a
        template instance (``"f<double>"``).
    signature
        Shapes and roles, ``"A[m,n], x[n] -> y[m]"``: inputs left of the arrow, outputs right, scratch after ``;``. Without
        it pointers that are only read are inputs, those only written are outputs, and integers are the number of elements.
    **options
        See :class:`ffgrad._core.Options`.

    Returns
    -------
    Enzyme
        Callable, with ``.apply``.

    Raises
    ------
    CompileError
        The source does not compile or has no such function.
    SignatureError
        The signature does not fit, or is needed.
    ToolchainError
        A compiler or the engine is missing.
    CacheError
        The cache folder cannot be used.
    """
    return Enzyme(open_function(source, function, signature, options, torch.Tensor, _allocate))
