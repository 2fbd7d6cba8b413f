"""A foreign function as a JAX operation: opened, and called with arrays, tracers or numbers."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from ffgrad._core import Options, Source, absolute, open_function, opening, plain
from ffgrad._jax import compat
from ffgrad._jax.call import Array, Foreign
from ffgrad._jax.primitive import bind, require_type
from ffgrad.errors import DtypeError, SignatureError

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Enzyme:
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

    def __init__(self, foreign: Foreign, manifest: dict[str, Any]) -> None:
        self._foreign = foreign
        self._native = foreign.native
        self.manifest = manifest
        self.inputs = foreign.inputs
        self.outputs = foreign.outputs
        self._compiled = jax.jit(self._bound)

    def __call__(self, *inputs: Any) -> Any:
        """Call the function; see :meth:`apply`."""
        return self.apply(*inputs)

    def apply(self, *inputs: Any) -> Any:
        """Call the function.

        Parameters
        ----------
        *inputs
            One array an input, of exactly the parameter's element type; NumPy arrays are taken too. Python numbers and
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
            When the call runs: the function threw a C++ exception, or no gradient could be proven right.
        """
        expected = len(self.inputs)
        if len(inputs) != expected:
            name, names = self._foreign.name, ", ".join(self.inputs)
            raise SignatureError(
                f"`{name}` takes {expected} inputs, {len(inputs)} were given\n  Its inputs are: {names}.",
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
        if not isinstance(value, jax.Array | np.ndarray | np.generic):
            found = type(value).__name__
            raise TypeError(f"`{self.inputs[i]}` must be an array or a number, not {found}")
        if isinstance(value, jax.Array) and value.dtype == dtype:
            return value
        require_type(self._foreign, self.inputs[i], dtype)
        if isinstance(value, jax.Array) and compat.is_weak(value) and _takes(dtype, value.dtype.kind):
            return jax.lax.convert_element_type(value, dtype)
        return value

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

    @property
    def signature(self) -> str:
        """The signature in use, defaults included."""
        return str(self.manifest["plan"]["signature"])

    def __repr__(self) -> str:
        """Return the function and its signature."""
        return f"<enzyme {self._foreign.name}: {self.signature}>"


def _takes(dtype: np.dtype[Any], kind: str) -> bool:
    """Whether a value without a type of its own may become this type: as in Python, never towards less."""
    return kind in {"f": "fiu", "i": "iu", "u": "iu", "b": "b"}[dtype.kind]


@opening
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
    # Absolute, because executables name the sources by path.
    files = absolute(source, options)
    native = open_function(files, function, signature, options, np.ndarray, np.empty)
    manifest = native.plan()
    spec = {"sources": files, "function": function, "signature": signature, "options": plain(options)}
    # The key sets this apart from the same function before its sources were edited.
    text = json.dumps({**spec, "key": manifest["key"]}, sort_keys=True)
    return Enzyme(Foreign(native, text, manifest), manifest)
