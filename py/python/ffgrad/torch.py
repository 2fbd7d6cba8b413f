"""PyTorch: a foreign function as a differentiable operation.

    from ffgrad.torch import enzyme

    f = enzyme("test.c", "f")
    y = f.apply(x)            # or f(x)
    y.sum().backward()

Contiguous tensors are passed without a copy. Outputs are allocated by PyTorch.
"""

from __future__ import annotations

import functools
import hashlib
import sys
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ffgrad._frameworks import missing

try:
    import torch
except ModuleNotFoundError as error:
    raise missing(error) from None

from torch import _C
from torch.compiler import is_dynamo_compiling

import ffgrad._torch  # noqa: F401  (registers the operators)
from ffgrad._arguments import counted, number_given
from ffgrad._core import Opened, Operation, Options, Source, document_options, open_given, open_operation
from ffgrad._plan import pack, text_bytes, unpack
from ffgrad._torch import cuda, cuda_eager
from ffgrad._torch.eager import fast_path
from ffgrad._torch.library import PRIMAL, VJP, typed
from ffgrad._torch.plans import TORCH, register
from ffgrad.errors import DeviceError, DtypeError, SignatureError

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Enzyme", "EnzymeModule", "enzyme"]

# What a parameter's type can hold without a loss.
_SHORTER = {
    torch.float32: (torch.bfloat16, torch.float16),
    torch.float64: (torch.bfloat16, torch.float16, torch.float32),
}

_MASKED = (
    "is a masked tensor, and the function would read what is masked too",
    "Give its data where nothing is masked (x.get_data()), or what stands for masked elements (x.to_tensor(0.0)).",
)
_NESTED = (
    "is a nested tensor, whose parts have shapes of their own",
    "Call the function on each part: [f(part) for part in x.unbind()].",
)


def _typed_primal(tensors: list[torch.Tensor], spec: str) -> list[torch.Tensor]:
    try:
        outputs: list[torch.Tensor] = PRIMAL(tensors, spec, 0, 0)
        return outputs
    except RuntimeError as error:
        raise typed(error) from None


class Enzyme(Operation):
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

    _framework = TORCH

    def __init__(self, opened: Opened) -> None:
        super().__init__(opened, register(opened).plan)
        self._given, self._spec = opened.given, opened.spec
        self._eager = fast_path(opened.native, self._plan.function, self._gradient)
        # What torch.func and torch.compile call it by.
        self.__name__ = self._plan.function
        self._is_kernel = opened.native.is_kernel
        self._is_loop = "repeat" in opened.given["options"]

    def apply(self, /, *inputs: torch.Tensor | float | int | bool, **named: torch.Tensor | float | int | bool) -> Any:
        """Call the function.

        Parameters
        ----------
        *inputs, **named
            In order or by the parameter's name, one tensor for each input, of exactly the parameter's element type, on the CPU or, for CUDA kernels,
            on one GPU; numbers for scalars, which are then constant. A 0-d tensor is a scalar with a gradient. Contiguous tensors are not
            copied. Inside of ``torch.autocast`` tensors of a shorter floating-point type are converted to the parameter's, as
            ``custom_fwd`` does. Of tensors without data (``device="meta"``, ``FakeTensor``) the shapes are computed.

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
        if named:
            inputs = self._in_order(inputs, named)
        if self._plan.texts:
            inputs = tuple(self._bytes(i, x) if isinstance(x, str) else x for i, x in enumerate(inputs))
        if self._is_kernel and cuda.concerns(inputs):
            if torch.is_autocast_enabled("cuda") or torch.is_autocast_enabled("cpu"):
                inputs = self._converted(inputs)
            if is_dynamo_compiling():
                return self._dispatch(inputs)
            cuda.kernel_of(self._spec).look_at(inputs)
            return self._on_gpu(inputs)
        if self._is_loop and cuda.concerns(inputs):
            raise cuda.of_loop(self._plan, inputs)
        # Other tracers than Dynamo are seen by the native side.
        if not is_dynamo_compiling():
            try:
                outputs = self._eager.call(inputs)
            except (DtypeError, DeviceError):
                # Only now is it worth asking whether these tensors can be called otherwise.
                outputs = self._call_otherwise(inputs)
            if outputs is not None:
                return outputs
        return self._dispatch(inputs)

    # The same function: one more between would cost as much as what it calls.
    __call__ = apply

    @functools.cached_property
    def _eager_on_gpu(self) -> cuda_eager.Eager:
        # At the first such call: most operations are never called on a GPU.
        return cuda_eager.Eager(self._spec, self._plan)

    def _on_gpu(self, inputs: tuple[Any, ...]) -> Any:
        """Call a kernel on a GPU; what fits is known."""
        tensors = [x if isinstance(x, torch.Tensor) else self._number(i, x) for i, x in enumerate(inputs)]
        outputs = self._eager_on_gpu.call(tensors)
        if outputs is None:
            return self._dispatch(tuple(tensors))
        return tuple(outputs) if len(outputs) > 1 else outputs[0]

    def _call_otherwise(self, inputs: tuple[Any, ...]) -> Any:
        """Call on tensors that were refused, where autocast converts them; ``None`` where they have no data. Else raise the refusal."""
        if refusal := self._unusual(inputs):
            raise refusal from None
        tensors = [(i, x) for i, x in enumerate(inputs) if isinstance(x, torch.Tensor)]
        if any(x.is_meta for _, x in tensors):
            return None
        if not any(self._casts(i, x) for i, x in tensors):
            raise  # noqa: PLE0704  (called where the refusal is handled)
        return self._eager.call(self._converted(inputs))

    def _converted(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the inputs as autocast wants them."""
        return tuple(self._tensor(i, x) if isinstance(x, torch.Tensor) else x for i, x in enumerate(inputs))

    def _dispatch(self, inputs: tuple[Any, ...]) -> Any:
        """Call through PyTorch's dispatcher, where transforms and tracers can see the operation."""
        if len(inputs) != len(self._plan.inputs):
            names = ", ".join(self._plan.names)
            raise SignatureError(
                f"`{self._plan.function}` takes {counted(len(self._plan.inputs), 'input')}, {number_given(len(inputs))}\n"
                f"  Its inputs are: {names}.",
                code="arity",
                function=self._plan.function,
            )
        tensors = self._tensors(inputs)
        if torch.compiler.is_compiling():
            outputs = PRIMAL(tensors, self._spec, 0, 0)
        else:
            outputs = self._dispatched(tensors)
        return tuple(outputs) if len(outputs) > 1 else outputs[0]

    def _dispatched(self, tensors: list[torch.Tensor]) -> Any:
        try:
            if _C._autograd._profiler_enabled():
                with torch.profiler.record_function(f"ffgrad::{self.__name__}"):
                    return _typed_primal(tensors, self._spec)
            return _typed_primal(tensors, self._spec)
        except (TypeError, NotImplementedError):
            # What PyTorch says where a kind of tensors knows nothing of an operator.
            if refusal := self._unusual(tensors):
                raise refusal from None
            raise

    def _unusual(self, inputs: Sequence[Any]) -> DtypeError | None:
        """Return the refusal of a tensor that is more than an array of numbers."""
        masked = getattr(sys.modules.get("torch.masked"), "MaskedTensor", ())
        for name, x in zip(self._plan.names, inputs, strict=False):
            if not isinstance(x, torch.Tensor):
                continue
            if isinstance(x, masked):
                what, hint = _MASKED
            elif x.is_nested:
                what, hint = _NESTED
            else:
                continue
            return DtypeError(
                f"`{name}` of `{self._plan.function}` {what}\n  {hint}",
                code="dtype",
                function=self._plan.function,
                expected="a tensor of numbers",
                found=type(x).__name__,
                hints=[hint],
            )
        return None

    def _gradient(self, inputs: tuple[Any, ...], cotangents: tuple[Any, ...], mask: int) -> list[Any]:
        """Return J^T v by the operator, which is differentiable and can be mapped."""
        mask &= self._native.differentiable
        given, present = pack(cotangents, self._plan.floats)
        if not mask or not present:
            return [None] * len(inputs)
        return unpack(VJP(self._tensors(inputs), given, self._spec, 0, mask, present), mask, len(inputs))

    def _tensors(self, inputs: tuple[Any, ...]) -> list[torch.Tensor]:
        return [self._tensor(i, x) if isinstance(x, torch.Tensor) else self._number(i, x) for i, x in enumerate(inputs)]

    def _tensor(self, i: int, x: torch.Tensor) -> torch.Tensor:
        """Return a tensor as it is, or converted where autocast asks for that."""
        return x.to(self._plan.input_dtypes[i]) if self._casts(i, x) else x

    def _casts(self, i: int, x: torch.Tensor) -> bool:
        """Whether autocast, which has made ``x``, lets it be converted: to a longer type only, which loses nothing."""
        dtypes = self._plan.input_dtypes
        if i >= len(dtypes) or x.dtype not in _SHORTER.get(dtypes[i], ()):
            return False
        return torch.is_autocast_enabled(x.device.type if x.is_cuda else "cpu")

    def _bytes(self, i: int, text: str) -> torch.Tensor:
        """Return a text as the bytes that the parameter takes."""
        return torch.tensor(list(text_bytes(self._plan, i, text)), dtype=torch.uint8).view(torch.int8)

    def _number(self, i: int, value: Any) -> torch.Tensor:
        """Return a number as the 0-d tensor that the parameter takes."""
        dtype = self._plan.input_dtypes[i]
        if dtype.is_floating_point:
            fits = isinstance(value, float | int | torch.SymFloat | torch.SymInt) and not isinstance(value, bool)
        else:
            fits = isinstance(value, int | torch.SymInt) and (dtype == torch.bool) == isinstance(value, bool)
        if not fits or not self._plan.scalar(i):
            raise DtypeError(
                f"`{self._plan.names[i]}` of `{self._plan.function}` cannot be given as {type(value).__name__}\n"
                "  Give a tensor of the parameter's type; numbers are for scalars.",
                code="dtype",
                function=self._plan.function,
            )
        # Of the CPU whatever the default device is: a GPU's call would have to wait for an integer.
        return torch.full((), value, dtype=dtype, device="cpu")

    def __reduce__(self) -> tuple[Any, ...]:
        """Be pickled by what it was made from, and by the sources' content, which is compared where it is opened again."""
        return _reopen, (self._given, self._opened.digests)


@document_options
def enzyme(
    source: Source | Iterable[Source],
    function: str,
    signature: str | None = None,
    **options: Unpack[Options],
) -> Enzyme:
    """Make a function in C, C++, Fortran or CUDA a differentiable operation of PyTorch.

    Returns
    -------
    Enzyme
        Callable, with ``.apply``.
    """
    # By absolute path, because exported programs and pickled modules name the sources so.
    return Enzyme(open_operation(TORCH, source, function, signature, options))


def _sha256(file: str) -> str:
    # What earlier versions wrote into pickles.
    content = Path(file, "pack.json") if Path(file).is_dir() else Path(file)
    return hashlib.sha256(content.read_bytes()).hexdigest()


def _reopen(given: dict[str, Any], digests: list[str]) -> Enzyme:
    """Open the operation of a pickle."""
    operation = Enzyme(open_given(TORCH, given))
    now = zip(given["sources"], digests, operation._opened.digests, strict=True)
    changed = [file for file, before, after in now if before != after and before != _sha256(file)]
    if changed:
        warnings.warn(
            f"{', '.join(changed)} changed since `{given['function']}` was pickled", UserWarning, stacklevel=2
        )
    return operation


# Last: it is built on this module.
from ffgrad._torch.module import EnzymeModule  # noqa: E402
