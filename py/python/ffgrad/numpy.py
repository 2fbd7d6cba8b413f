"""NumPy: a foreign function and its derivatives on plain arrays; made for SciPy's optimisers and solvers.

    from ffgrad.numpy import enzyme

    f = enzyme("rosenbrock.c", "rosenbrock", "x[n] -> return")
    scipy.optimize.minimize(f.value_and_grad, x0, jac=True, hessp=f.hessp, method="Newton-CG")

Arrays are passed without a copy: NumPy's own, read-only ones included, and whatever offers ``__dlpack__``, ``__array_interface__``
or the buffer protocol. Results are new NumPy arrays. CUDA kernels take arrays on a GPU too (CuPy's, JAX's), and return arrays of the same
library; see ``docs/cuda.md``.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ffgrad import _native
from ffgrad._arguments import counted, number_given
from ffgrad._core import Framework, Opened, Operation, Options, Source, document_options, open_operation
from ffgrad._device import Calls, is_on_gpu, loop_elsewhere
from ffgrad._gpu import Description
from ffgrad._gpu_check import Check
from ffgrad._plan import text_bytes
from ffgrad._views import viewed
from ffgrad.errors import ChangedInputError, SignatureError

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Enzyme", "enzyme"]

Array = Any
"""What is accepted as an array: see the module's documentation."""

Argnums = int | str | Sequence[int | str]
"""Inputs, by position or by name."""


_NUMPY = Framework(np.ndarray, np.empty, np.dtype)


def _tuple(values: Any) -> tuple[Any, ...]:
    return tuple(values) if isinstance(values, tuple | list) else (values,)


def _scalar(y: Any) -> Any:
    """Return a 0-d array as NumPy's functions do: as a number with a type. A GPU's stay arrays."""
    return y[()] if isinstance(y, np.ndarray) and y.ndim == 0 else y


class Enzyme(Operation):
    """A foreign function on NumPy arrays; made by :func:`enzyme`.

    Inputs are arrays of exactly the parameter's element type, or numbers for scalars. Contiguous arrays are not copied
    (:func:`ffgrad.copies` counts those that are), and no input is ever changed. Results are new arrays; outputs without
    dimensions are NumPy's scalars. ``argnums`` chooses inputs by position or by name, as one or several.

    All methods raise ``ShapeError``, ``DtypeError``, ``DeviceError`` and ``SignatureError`` where inputs do not fit, and
    ``ForeignError`` where the function threw a C++ exception; derivatives raise ``DifferentiationError`` where none
    passes verification.

    Attributes
    ----------
    inputs : list of str
        Names of the inputs, in the order in which calls take them.
    outputs : list of str
        Names of the outputs, in the order in which calls return them.
    """

    _framework = _NUMPY

    def __init__(self, opened: Opened) -> None:
        plan = opened.plan
        super().__init__(opened)
        self._input_types, self._output_types = plan.input_dtypes, plan.output_dtypes
        self._differentiable = plan.differentiable
        self._name: str = opened.given["function"]
        self._is_loop = "repeat" in opened.given["options"]
        self._gpu: tuple[Description, Check] | None = None
        if opened.native.is_kernel:
            description = Description(opened.native)
            self._gpu = description, Check(description, opened.given["options"].get("verify", "once"))
        outputs = [plan.args[i] for i in plan.outputs]
        self._is_one_number = len(outputs) == 1 and not outputs[0]["shape"] and not outputs[0]["batched"]

    def _views(self, inputs: Iterable[Any], named: Mapping[str, Any] | None = None) -> tuple[Any, ...]:
        if named:
            inputs = self._in_order(tuple(inputs), named)
        inputs = [self._bytes(i, x) if isinstance(x, str) else x for i, x in enumerate(inputs)]
        # One too many is refused by the native side.
        names = [*self.inputs, *itertools.repeat("an array", max(0, len(inputs) - len(self.inputs)))]
        for x, name in zip(inputs, names, strict=False):
            if self._is_loop and is_on_gpu(x):
                raise loop_elsewhere(self._name, name, "a CUDA device")
        return tuple(viewed(x, name, self._gpu is not None) for x, name in zip(inputs, names, strict=False))

    def _bytes(self, position: int, text: str) -> Any:
        return np.frombuffer(text_bytes(self._plan, position, text), np.int8)

    def _for(self, given: tuple[Any, ...]) -> Any:
        """Return what computes: the native function, or for arrays on a GPU their launches."""
        if self._gpu is None or not any(is_on_gpu(x) for x in given):
            return self._native
        return Calls(*self._gpu, given)

    def _fingerprints(self, given: tuple[Any, ...]) -> list[int]:
        """Return numbers that the contents of the arrays determine; of those on a GPU nothing."""
        return _native.fingerprints(tuple(0 if is_on_gpu(x) else x for x in given))

    def _changed(self, before: list[int], now: list[int]) -> ChangedInputError:
        names = [f"`{n}`" for n, a, b in zip(self.inputs, before, now, strict=True) if a != b]
        function = self._name
        hint = "Give vjp a copy (x.copy()), or call the pullback before the array is written to."
        return ChangedInputError(
            f"{' and '.join(names)} changed between `{function}.vjp` and the pullback, which reads it again\n  {hint}",
            code="changed-input",
            function=function,
            hints=[hint],
        )

    def _here(self, what: str, given: tuple[Any, ...]) -> None:
        """Refuse arrays on a GPU."""
        if self._gpu is not None and any(is_on_gpu(x) for x in given):
            hint = "Use vjp, jvp or hvp row by row, or ffgrad.torch, where a map is one launch."
            raise self._gpu[0].on_cpu_only(what, hint)

    # --- values ---------------------------------------------------------------------------------------

    def __call__(self, /, *inputs: Array | float, **named: Array | float) -> Any:
        """Compute the function.

        Parameters
        ----------
        *inputs, **named
            One array or number for each input, in order or by the parameter's name.

        Returns
        -------
        ndarray, scalar or tuple of them
            The outputs, in the order of the signature.
        """
        return self._joined(self._for(given := self._views(inputs, named)).primal(given, 0))

    apply = __call__

    # --- first derivatives ----------------------------------------------------------------------------

    def vjp(self, /, *inputs: Array | float, **named: Array | float) -> tuple[Any, Callable[..., Any]]:
        """Compute the function, and return the pullback: a function from cotangents of the outputs to gradients of the inputs.

        Parameters
        ----------
        *inputs, **named
            As in a call. They must not change until the last pullback, which reads them again: it compares a fingerprint of
            every byte, and raises ``ChangedInputError``. (Arrays on a GPU are not compared.)

        Returns
        -------
        outputs
            As a call returns them.
        pullback : callable
            ``pullback(v)``, with one array of the output's shape (several outputs: a tuple, ``None`` is zero), returns the
            vector-Jacobian product: a tuple with one new array for each input, ``None`` for inputs without derivative.
        """
        given = self._views(inputs, named)
        outputs = self._for(given).primal(given, self._differentiable)
        # After the call, which refuses what does not fit: an array that is wrong may be endless to read.
        before = self._fingerprints(given)

        def pullback(*given_back: Any) -> tuple[np.ndarray | None, ...]:
            if len(given_back) != 1:
                raise self._not_one(given_back)
            cotangents = given_back[0]
            gradients: tuple[np.ndarray | None, ...]
            if (now := self._fingerprints(given)) != before:
                raise self._changed(before, now)
            gradients = self._for(given).vjp(given, self._cotangents(cotangents), self._differentiable)
            return gradients

        return self._joined(outputs), pullback

    def jvp(self, inputs: Any, tangents: Any) -> tuple[Any, Any]:
        """Compute the function and its Jacobian-vector product.

        Parameters
        ----------
        inputs
            A tuple of inputs, or the only input.
        tangents
            As many arrays of the inputs' shapes; ``None`` is zero.

        Returns
        -------
        outputs, tangents
            As a call returns them; the tangent of an integer output is ``None``.
        """
        given = self._views(_tuple(inputs))
        along = self._tangents(tangents)
        outputs = self._for(given).primal(given, 0)
        return self._joined(outputs), self._joined(self._for(given).jvp(given, along))

    def grad(self, /, *inputs: Array | float, argnums: Argnums = 0, **named: Array | float) -> Any:
        """Compute the gradient of a function of one output without dimensions.

        Parameters
        ----------
        *inputs, **named
            As in a call.
        argnums
            The inputs to differentiate: positions or names, one or a sequence of them.

        Returns
        -------
        ndarray or tuple of ndarray
            New arrays of the inputs' shapes.
        """
        return self._gradients(self._views(inputs, named), self._places(argnums))

    def value_and_grad(
        self, /, *inputs: Array | float, argnums: Argnums = 0, **named: Array | float
    ) -> tuple[Any, Any]:
        """Compute the value and the gradient, as SciPy's ``minimize(..., jac=True)`` wants them.

        Parameters
        ----------
        *inputs, **named
            As in a call.
        argnums
            The inputs to differentiate: positions or names, one or a sequence of them.

        Returns
        -------
        value
            A scalar.
        gradient : ndarray or tuple of ndarray
            As :meth:`grad` returns it.
        """
        given = self._views(inputs, named)
        argnums = self._places(argnums)
        mask = self._mask(argnums)
        self._one_number()
        (value,) = self._for(given).primal(given, mask)
        return _scalar(value), self._gradients(given, argnums)

    def jacobian(self, /, *inputs: Array | float, argnums: Argnums = 0, **named: Array | float) -> Any:
        """Compute the Jacobian, in one native loop over the rows or columns, whichever are fewer.

        Parameters
        ----------
        *inputs, **named
            As in a call.
        argnums
            The inputs to differentiate: positions or names, one or a sequence of them.

        Returns
        -------
        ndarray
            A new array of the output's shape followed by the input's. Several inputs: a tuple of them; several
            outputs: a tuple of those, ``None`` for integer outputs.
        """
        given = self._views(inputs, named)
        self._here("Jacobians of", given)
        argnums = self._places(argnums)
        mask = self._mask(argnums)
        outputs = self._for(given).primal(given, mask)
        shapes = [np.shape(x) for x in given]
        rows = sum(y.size for y, dtype in zip(outputs, self._output_types, strict=True) if dtype.kind == "f")
        chosen = _chosen(argnums)
        by_rows = rows < sum(int(np.prod(shapes[i], dtype=int)) for i in chosen)
        parts = self._rows(given, outputs, mask) if by_rows else self._columns(given, shapes, outputs, chosen)
        per_output = [
            None if row is None else (row[argnums] if isinstance(argnums, int) else tuple(row[i] for i in chosen))
            for row in parts
        ]
        return per_output[0] if len(per_output) == 1 else tuple(per_output)

    def _rows(self, given: tuple[Any, ...], outputs: tuple[Any, ...], mask: int) -> list[Any]:
        parts: list[Any] = []
        for position, y in enumerate(outputs):
            if self._output_types[position].kind != "f":
                parts.append(None)
                continue
            unit = np.eye(y.size, dtype=y.dtype).reshape((y.size, *y.shape))
            cotangents = tuple(unit if p == position else None for p in range(len(outputs)))
            batch = _native.Batch((y.size,), cotangents=1 << position, separate=mask)
            gradients = self._native.vjp(given, cotangents, mask, batch)
            parts.append([None if g is None else g.reshape((*y.shape, *g.shape[1:])) for g in gradients])
        return parts

    def _columns(
        self, given: tuple[Any, ...], shapes: list[tuple[int, ...]], outputs: tuple[Any, ...], chosen: Sequence[int]
    ) -> list[Any]:
        parts: list[Any] = [[None] * len(given) if dtype.kind == "f" else None for dtype in self._output_types]
        for i in chosen:
            shape, count = shapes[i], int(np.prod(shapes[i], dtype=int))
            unit = np.eye(count, dtype=self._input_types[i]).reshape((count, *shape))
            tangents = tuple(unit if p == i else None for p in range(len(given)))
            columns = self._native.jvp(given, tangents, _native.Batch((count,), tangents=1 << i))
            for part, column, y in zip(parts, columns, outputs, strict=True):
                if part is not None:
                    part[i] = np.moveaxis(column, 0, -1).reshape((*y.shape, *shape))
        return parts

    # --- second derivatives ---------------------------------------------------------------------------

    def hvp(self, inputs: Any, tangents: Any, cotangents: Any = None) -> Any:
        """Compute how the vector-Jacobian product changes along tangents: the Hessian times a vector, for one number.

        Parameters
        ----------
        inputs
            A tuple of inputs, or the only input.
        tangents
            As many arrays of the inputs' shapes; ``None`` is zero.
        cotangents
            The weights of the outputs, which are constant; 1 for a function of one output without dimensions.

        Returns
        -------
        ndarray or tuple
            New arrays of the inputs' shapes: one if ``inputs`` is one array, else a tuple with one for each input, ``None`` for
            inputs without derivative.
        """
        given = self._views(_tuple(inputs))
        if cotangents is None:
            self._one_number()
            cotangents = 1.0
        weights, along = self._cotangents(cotangents), self._tangents(tangents)
        changes = self._for(given).hvp(given, weights, along, self._differentiable)
        return changes if isinstance(inputs, tuple | list) else changes[0]

    def hessp(self, x: Array, p: Array, *rest: Array | float) -> np.ndarray:
        """Compute the Hessian of the first input times ``p``, as SciPy's ``minimize(..., hessp=)`` calls it.

        Parameters
        ----------
        x, p
            The first input and a vector of its shape.
        *rest
            The other inputs.

        Returns
        -------
        ndarray
            A new array of the shape of ``x``.
        """
        self._one_number()
        given = self._views((x, *rest))
        along = (self._array(p, self._input_types[0]), *[None] * len(rest))
        change: np.ndarray = self._for(given).hvp(given, self._cotangents(1.0), along, self._mask(0))[0]
        return change

    def hessian(self, /, *inputs: Array | float, argnums: Argnums = 0, **named: Array | float) -> Any:
        """Compute the Hessian of a function of one output without dimensions, in one native loop for each input.

        Parameters
        ----------
        *inputs, **named
            As in a call.
        argnums
            The inputs to differentiate twice: positions or names, one or a sequence of them.

        Returns
        -------
        ndarray or tuple of tuple of ndarray
            A new array of the input's shape, twice. Several inputs: a block for each pair, ``[i][j]`` with the shape of the
            i-th of them followed by that of the j-th.
        """
        self._one_number()
        given = self._views(inputs, named)
        self._here("Hessians of", given)
        argnums = self._places(argnums)
        mask, chosen = self._mask(argnums), _chosen(argnums)
        blocks = tuple(self._hessian_rows(given, i, chosen, mask) for i in chosen)
        return blocks[0][0] if isinstance(argnums, int) else blocks

    def _hessian_rows(
        self, given: tuple[Any, ...], of: int, chosen: Sequence[int], mask: int
    ) -> tuple[np.ndarray, ...]:
        """Return how the gradients of all chosen inputs change with one of them."""
        shape = np.shape(given[of])
        count = int(np.prod(shape, dtype=int))
        unit = np.eye(count, dtype=self._input_types[of]).reshape((count, *shape))
        along = tuple(unit if p == of else None for p in range(len(given)))
        batch = _native.Batch((count,), tangents=1 << of, separate=mask)
        changes = self._native.hvp(given, self._cotangents(1.0), along, mask, batch)
        return tuple(changes[i].reshape((*shape, *np.shape(given[i]))) for i in chosen)

    # --- arguments ------------------------------------------------------------------------------------

    def _joined(self, outputs: Sequence[Any]) -> Any:
        values = tuple(None if y is None else _scalar(y) for y in outputs)
        return values if len(values) > 1 else values[0]

    def _gradients(self, given: tuple[Any, ...], argnums: int | tuple[int, ...]) -> Any:
        self._one_number()
        gradients = self._for(given).vjp(given, self._cotangents(1.0), self._mask(argnums))
        return gradients[argnums] if isinstance(argnums, int) else tuple(gradients[i] for i in argnums)

    def _not_one(self, given: tuple[Any, ...]) -> SignatureError:
        """Return the refusal of several arguments, or of none, for a pullback."""
        takes = "the cotangent" if len(self.outputs) == 1 else f"one tuple of {len(self.outputs)} cotangents"
        message = f"the pullback of {self!r} takes one argument, {takes} of {', '.join(self.outputs)}; {number_given(len(given))}"
        return SignatureError(message, code="arity")

    def _cotangents(self, values: Any) -> tuple[Any, ...]:
        return tuple(self._array(v, t) for v, t in _paired("cotangent", values, self._output_types, self))

    def _tangents(self, values: Any) -> tuple[Any, ...]:
        return tuple(self._array(v, t) for v, t in _paired("tangent", values, self._input_types, self))

    def _array(self, value: Any, dtype: np.dtype) -> Any:
        """Return a shadow; numbers take the element type of what they belong to."""
        if isinstance(value, int | float):
            return np.asarray(value, dtype=dtype)
        return viewed(value, kernels=self._gpu is not None)

    def _places(self, argnums: Argnums) -> int | tuple[int, ...]:
        """Return the positions of inputs that are given by position or by name."""
        if isinstance(argnums, str) or not isinstance(argnums, Iterable):
            return self._place(argnums)
        return tuple(self._place(one) for one in argnums)

    def _place(self, one: Any) -> int:
        if isinstance(one, str) and one in self.inputs:
            return self.inputs.index(one)
        if isinstance(one, int | np.integer) and not isinstance(one, bool):
            return int(one)
        message = (
            f"argnums has {one!r}, which is no input's position or name\n  The inputs are: {', '.join(self.inputs)}."
        )
        raise SignatureError(message, code="argnums")

    def _mask(self, argnums: int | tuple[int, ...]) -> int:
        mask = 0
        for i in _chosen(argnums):
            if not (0 <= i < len(self.inputs)):
                message = f"argnums has {i}, but `{self._plan.function}` takes {counted(len(self.inputs), 'input')}: {', '.join(self.inputs)}"
                raise SignatureError(message, code="argnums")
            if not self._differentiable >> i & 1:
                message = (
                    f"`{self.inputs[i]}` has no derivative\n"
                    "  It is an integer, or `const` in the signature. Choose other inputs with argnums."
                )
                raise SignatureError(message, code="argnums")
            mask |= 1 << i
        return mask

    def _one_number(self) -> None:
        if self._is_one_number:
            return
        message = (
            f"a gradient is of one number, but the outputs of {self!r} are {', '.join(self.outputs)}\n"
            "  Use vjp or jacobian, or write a function that sums them up."
        )
        raise SignatureError(message, code="not-one-number")


def _chosen(argnums: int | tuple[int, ...]) -> tuple[int, ...]:
    return (argnums,) if isinstance(argnums, int) else argnums


def _paired(what: str, values: Any, types: list[np.dtype], f: Enzyme) -> Iterable[tuple[Any, np.dtype]]:
    given = _tuple(values)
    if len(given) != len(types):
        whose = "input" if what == "tangent" else "output"
        message = f"{f!r} takes {counted(len(types), what)}, one for each {whose}; {number_given(len(given))}"
        raise SignatureError(message, code="arity")
    return zip(given, types, strict=True)


@document_options
def enzyme(
    source: Source | Iterable[Source],
    function: str,
    signature: str | None = None,
    **options: Unpack[Options],
) -> Enzyme:
    """Make a foreign function a differentiable function of NumPy arrays.

    Returns
    -------
    Enzyme
        Callable, with ``vjp``, ``jvp``, ``grad``, ``value_and_grad``, ``jacobian``, ``hvp``, ``hessp`` and ``hessian``.
    """
    return Enzyme(open_operation(_NUMPY, source, function, signature, options, absolute=False))
