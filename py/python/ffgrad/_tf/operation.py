"""A foreign function as a TensorFlow operation: opened, and called eagerly or in a graph."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

import ffgrad._tf.gradients  # noqa: F401  (registers the gradients)
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
from ffgrad._plan import text_bytes
from ffgrad._tf import library
from ffgrad._tf.library import misfit, open_now
from ffgrad._tf.shapes import output_shapes

if TYPE_CHECKING:
    from typing_extensions import Unpack

try:
    from tensorflow.python.eager.record import should_record_backprop as _is_recorded
except ImportError:  # a private name: without it the primal is built apart from the gradient, no more

    def _is_recorded(tensors: list[tf.Tensor]) -> bool:
        return False


try:
    from tensorflow.python.ops.control_flow_util import GraphOrParentsInXlaContext as _is_for_xla
except ImportError:  # a private name: without it XLA refuses, in words of its own

    def _is_for_xla(graph: tf.Graph) -> bool:
        return False


# What no tape can watch: values without a gradient, as numbers are in every front end.
_PLAIN = (bool, int, float, list, tuple, np.ndarray, np.generic)

_XLA = (
    "`{name}` cannot be part of a function that XLA compiles (jit_compile=True): it is machine code already\n"
    "  Leave jit_compile out (in Keras: compile(jit_compile=False)), call `{name}` outside of that function, or use ffgrad.jax, where XLA calls foreign functions."
)

_RAGGED = "Call the function on each row: tf.map_fn, or [f(row) for row in x]; or fill them up: x.to_tensor()."
_SPARSE = "Convert it before the call: tf.sparse.to_dense(x)."

# The native half is called on NumPy arrays; TensorFlow's operations call it beside Python.
_TENSORFLOW = Framework(np.ndarray, np.empty, tf.as_dtype)


class Enzyme(Operation):
    """A foreign function, differentiable; made by :func:`enzyme`.

    Attributes
    ----------
    inputs : list of str
        Names of the inputs, in the order in which calls take them.
    outputs : list of str
        Names of the outputs, in the order in which calls return them.
    input_dtypes, output_dtypes : list of tf.DType
        Their element types.
    differentiable : int
        Bit i is set where input i can have a gradient.
    manifest : dict
        Prototype, call plan, tools and commands, as ``ffgrad show`` prints them.
    """

    # AutoGraph has nothing to translate here. This is how TensorFlow marks its own such functions; the public function,
    # tf.autograph.experimental.do_not_convert, costs 2 microseconds a call.
    autograph_info__ = True

    _framework = _TENSORFLOW

    def __init__(self, opened: Opened) -> None:
        super().__init__(opened)
        self.differentiable = opened.plan.differentiable
        self.input_dtypes = opened.plan.input_dtypes
        self.output_dtypes = opened.plan.output_dtypes
        self._spec = opened.spec.encode()
        open_now(self._spec)

    def __call__(self, /, *inputs: Any, **named: Any) -> Any:
        """Call the function; see :meth:`apply`."""
        return self.apply(*inputs, **named)

    def apply(self, /, *inputs: Any, **named: Any) -> Any:
        """Call the function.

        Parameters
        ----------
        *inputs, **named
            In order or by the parameter's name, one tensor or variable for each input, of exactly the parameter's element type. Numbers, lists and NumPy arrays
            are taken too, and are constant; numbers and lists take the parameter's type. Tensors are not copied.

        Returns
        -------
        tf.Tensor or tuple of tf.Tensor
            The outputs, in the order of the signature.

        Raises
        ------
        tf.errors.InvalidArgumentError
            The inputs do not fit, with the parameter's name; in a graph already while it is built, as far as types and
            shapes are known then.
        tf.errors.UnimplementedError
            A gradient is recorded and none can be given, or XLA would have to compile the call (``jit_compile=True``).
        tf.errors.UnknownError
            The function threw a C++ exception.
        tf.errors.FailedPreconditionError
            A tool is missing, or the cache folder cannot be used.
        """
        if named:
            inputs = self._in_order(inputs, named)
        tensors: list[tf.Tensor] = []
        mask = self.differentiable
        for i, value in enumerate(inputs):
            if isinstance(value, str):
                value = np.frombuffer(text_bytes(self._plan, i, value), np.int8)
            if not isinstance(value, tf.Tensor):
                if isinstance(value, _PLAIN):
                    mask &= ~(1 << i)
                value = self._tensor(i, value)
            tensors.append(value)
        eager = tf.executing_eagerly()
        if not eager and _is_for_xla(tf.compat.v1.get_default_graph()):
            raise tf.errors.UnimplementedError(None, None, _XLA.format(name=self._plan.function))
        reason = None if eager else misfit(self._spec, tensors)
        if reason is not None:
            raise tf.errors.InvalidArgumentError(None, None, reason)
        outputs = library.primal(
            inputs=tensors,
            Tout=self.output_dtypes,
            spec=self._spec,
            mask=mask,
            # Where a gradient will follow, one build serves both.
            expected=mask if _is_recorded(tensors) else 0,
        )
        if not eager:
            shapes = output_shapes(self._plan, [tensor.shape for tensor in tensors])
            for output, shape in zip(outputs, shapes, strict=True):
                output.set_shape(shape)
        return tuple(outputs) if len(outputs) > 1 else outputs[0]

    def _tensor(self, i: int, value: Any) -> tf.Tensor:
        """Return the input as a tensor; only what has no type of its own takes the parameter's."""
        if is_masked(value):
            raise self._unfit(i, *MASKED)
        if isinstance(value, tf.RaggedTensor):
            raise self._unfit(i, "is a ragged tensor, whose rows have lengths of their own", _RAGGED)
        if isinstance(value, tf.SparseTensor):
            raise self._unfit(i, "is a sparse tensor, and the function reads every element", _SPARSE)
        try:
            if hasattr(value, "dtype") or i >= len(self.input_dtypes):
                return tf.convert_to_tensor(value)
            return tf.convert_to_tensor(value, dtype_hint=self.input_dtypes[i])
        except (TypeError, ValueError) as error:
            if not (value is None or isinstance(value, (*_PLAIN, dict))):
                raise
            hint = "Give a tensor, an array or a number, of the parameter's type."
            raise self._unfit(i, f"cannot be made a tensor: {str(error).splitlines()[0]}", hint) from None

    def _unfit(self, i: int, what: str, hint: str) -> Exception:
        name = self.inputs[i] if i < len(self.inputs) else "an input"
        text = f"`{name}` of `{self._plan.function}` {what}\n  {hint}"
        refusal: Exception = tf.errors.InvalidArgumentError(None, None, text)
        return refusal

    apply.autograph_info__ = True  # type: ignore[attr-defined]


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
    # By absolute path, because saved graphs name the sources so.
    return Enzyme(open_operation(_TENSORFLOW, source, function, signature, options))
