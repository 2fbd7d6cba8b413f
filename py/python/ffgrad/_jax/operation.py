"""A foreign function as a JAX operation: opened, and called with arrays, tracers or numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from ffgrad._arguments import counted, number_given
from ffgrad._core import (
    MASKED,
    Framework,
    Opened,
    Operation,
    Options,
    Source,
    document_options,
    is_masked,
    open_operation,
)
from ffgrad._jax import compat
from ffgrad._jax.call import Array, Foreign
from ffgrad._jax.primitive import bind, require_type
from ffgrad._plan import text_bytes
from ffgrad.errors import DtypeError, SignatureError

if TYPE_CHECKING:
    from typing_extensions import Unpack

# The native half is called on NumPy arrays; XLA's handler calls it beside Python.
_JAX = Framework(np.ndarray, np.empty, np.dtype)


class Enzyme(Operation):
    """A foreign function, differentiable; made by :func:`enzyme`.

    Attributes
    ----------
    inputs : list of str
        Names of the inputs, in the order in which calls take them.
    outputs : list of str
        Names of the outputs, in the order in which calls return them.
    manifest : dict
        Prototype, call plan, tools and commands, as ``ffgrad show`` prints them.
    """

    _framework = _JAX

    def __init__(self, opened: Opened) -> None:
        super().__init__(opened)
        self._foreign = Foreign(opened)
        self._compiled = jax.jit(self._bound)

    def __call__(self, /, *inputs: Any, **named: Any) -> Any:
        """Call the function; see :meth:`apply`."""
        return self.apply(*inputs, **named)

    def apply(self, /, *inputs: Any, **named: Any) -> Any:
        """Call the function.

        Parameters
        ----------
        *inputs, **named
            In order or by the parameter's name, one array for each input, of exactly the parameter's element type; NumPy arrays are taken too. Python numbers and
            other weakly typed values take the parameter's type. Arrays on the CPU are not copied.

        Returns
        -------
        jax.Array or tuple of jax.Array
            The outputs, in the order of the signature.

        Raises
        ------
        ShapeError, DtypeError, SignatureError
            The inputs do not fit, with the parameter's name; while tracing.
        DifferentiationError
            A derivative is compiled that cannot be given.
        DeviceError
            The call is compiled for something else than a CPU.
        jax.errors.JaxRuntimeError
            When the call runs: the function threw a C++ exception, or no gradient passed verification.
        """
        if named:
            inputs = self._in_order(inputs, named)
        expected = len(self.inputs)
        if len(inputs) != expected:
            name, names = self._foreign.name, ", ".join(self.inputs)
            raise SignatureError(
                f"`{name}` takes {counted(expected, 'input')}, {number_given(len(inputs))}\n  Its inputs are: {names}.",
                code="arity",
                function=name,
                hints=[f"Its inputs are: {names}."],
            )
        arrays = [self._array(i, value) for i, value in enumerate(inputs)]
        if any(isinstance(array, compat.Tracer) for array in arrays):
            return self._bound(*arrays)
        return self._compiled(*arrays)

    def _bound(self, *arrays: Any) -> Any:
        group = {i: Array(array, False) for i, array in enumerate(arrays)}
        outputs = tuple(bind(self._foreign, "primal", group).values())
        return outputs if len(outputs) > 1 else outputs[0]

    def _array(self, i: int, value: Any) -> Any:
        """Return an input as an array; only what has no type of its own takes the parameter's."""
        dtype = self._foreign.input_dtypes[i]
        if isinstance(value, bool | int | float):
            return self._number(i, value)
        if isinstance(value, str):
            return np.frombuffer(text_bytes(self._plan, i, value), np.int8)
        if not isinstance(value, jax.Array | np.ndarray | np.generic):
            found = type(value).__name__
            raise DtypeError(
                f"`{self.inputs[i]}` must be an array or a number, not {found}",
                code="dtype",
                function=self._foreign.name,
                found=found,
            )
        if isinstance(value, jax.Array):
            if value.dtype == dtype:
                return value
        else:
            self._check(i, value)
        require_type(self._foreign, self.inputs[i], dtype)
        if isinstance(value, jax.Array) and compat.is_weak(value) and _takes(dtype, value.dtype.kind):
            return jax.lax.convert_element_type(value, dtype)
        return value

    def _check(self, i: int, value: np.ndarray | np.generic) -> None:
        """Refuse a NumPy array that JAX would misread in a second call, or refuse by names of its own.

        A compiled function that JAX has run with an array takes masked arrays and the other byte order after it: it only
        compares shape and type.
        """
        name = self._foreign.name
        if type(value) is not np.ndarray and is_masked(value):
            what, hint = MASKED
            raise DtypeError(
                f"`{self.inputs[i]}` of `{name}` {what}\n  {hint}",
                code="dtype",
                function=name,
                expected="an array",
                found="a masked array",
                hints=[hint],
            )
        if _is_beyond_jax(value.dtype):
            hints = [] if value.dtype.isnative or value.dtype.str[1:] not in _NUMBERS else [_SWAPPED]
            raise DtypeError(
                f"`{self.inputs[i]}` of `{name}` has an element type that no foreign parameter has\n"
                f"  expected {_ELEMENTS}\n  found    {value.dtype}" + "".join(f"\n  {hint}" for hint in hints),
                code="dtype",
                function=name,
                expected=_ELEMENTS,
                found=str(value.dtype),
                hints=hints,
            )

    def _number(self, i: int, value: bool | int | float) -> Any:
        dtype, kind = self._foreign.input_dtypes[i], np.asarray(value).dtype.kind
        require_type(self._foreign, self.inputs[i], dtype)
        if not _takes(dtype, kind) or not self._foreign.scalars[i]:
            # Of its own type, for the check to refuse it by name.
            return jnp.asarray(value)
        if dtype.kind in "iu" and not np.iinfo(dtype).min <= value <= np.iinfo(dtype).max:
            name = self._foreign.name
            raise DtypeError(
                f"`{self.inputs[i]}` cannot hold {value}\n  expected: {dtype}\n  found: {value}",
                code="value-range",
                function=name,
                expected=str(dtype),
                found=str(value),
            )
        return np.asarray(value, dtype)


_ELEMENTS = "float32, float64, an integer type or bool"
_NUMBERS = {"f4", "f8", "i2", "i4", "i8", "u2", "u4", "u8"}
_SWAPPED = 'Convert it to the byte order of this machine: x.astype(x.dtype.newbyteorder("=")).'


def _is_beyond_jax(dtype: np.dtype[Any]) -> bool:
    """Whether JAX, which would name its own functions, takes no such array: objects, texts, dates, records, long doubles, the other byte order."""
    return not dtype.isnative or dtype.kind in "OSUMm" or dtype.char in "gG" or dtype.type is np.void


def _takes(dtype: np.dtype[Any], kind: str) -> bool:
    """Whether a value without a type of its own may become this type: as in Python, never towards less."""
    return kind in {"f": "fiu", "i": "iu", "u": "iu", "b": "b"}[dtype.kind]


@document_options
def enzyme(
    source: Source | Iterable[Source],
    function: str,
    signature: str | None = None,
    **options: Unpack[Options],
) -> Enzyme:
    """Make a C or C++ function a differentiable operation.

    Returns
    -------
    Enzyme
        Callable, with ``.apply``.
    """
    # By absolute path, because executables name the sources so.
    return Enzyme(open_operation(_JAX, source, function, signature, options))
