"""A foreign function as a Keras layer, with trainable parameters of its own."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from ffgrad._arguments import counted, number_given, plain, source_files
from ffgrad._core import Options, Source
from ffgrad._tf.operation import Enzyme, enzyme


@tf.keras.utils.register_keras_serializable(package="ffgrad")
class EnzymeLayer(tf.keras.layers.Layer):  # type: ignore[misc]
    """A C or C++ function as a layer.

    Inputs of the function that are named in ``parameters`` become trainable weights. The layer is called on the others,
    in their order: one tensor, a list or tuple, or a mapping by name. Floating-point inputs are cast to the parameter's
    type, as every Keras layer casts to its own; integers are not. The function gets the whole batch:
    ``"x[b,n], k -> y[b,n]"``.

    Saved with the model are the sources' paths, not their content: where a model is loaded they must be there, and
    ``ffgrad.tf`` must be imported first.

    Parameters
    ----------
    source, function, signature, **options
        As :func:`ffgrad.tf.enzyme` takes them, the options as one mapping.
    parameters : mapping of str to array_like
        Initial values of the trainable inputs, by name.
    **kwargs
        Of ``keras.layers.Layer``: ``name``, ``trainable``, ...

    Raises
    ------
    CompileError, SignatureError, ToolchainError, CacheError
        The function does not open.
    ValueError
        ``parameters`` names what is not an input with a gradient.
    """

    def __init__(
        self,
        source: Source | list[Source],
        function: str,
        signature: str | None = None,
        *,
        parameters: Mapping[str, Any] | None = None,
        options: Options | None = None,
        **kwargs: Any,
    ) -> None:
        files = [os.path.abspath(file) for file in source_files(source)]
        operation = enzyme(files, function, signature, **(options or {}))
        floats = [d for d in operation.input_dtypes if d.is_floating]
        kwargs.setdefault("dtype", floats[0].name if floats else None)
        super().__init__(autocast=False, **kwargs)
        # Keras switches XLA on by itself where every layer allows it.
        self.supports_jit = False
        self._operation: Enzyme = operation
        self._config = json.dumps(
            {
                "source": files,
                "function": function,
                "signature": signature,
                "parameters": {name: np.asarray(value).tolist() for name, value in (parameters or {}).items()},
                "options": plain(options or {}),
            }
        )
        differentiable = [n for i, n in enumerate(operation.inputs) if operation.differentiable >> i & 1]
        for name in parameters or {}:
            if name not in differentiable:
                known = ", ".join(f"`{n}`" for n in differentiable)
                raise ValueError(f"`{function}` has no input `{name}` that can have a gradient\n  These can: {known}.")
        types = dict(zip(operation.inputs, operation.input_dtypes, strict=True))
        self.parameters = {
            name: self._weight(name, np.asarray(value, types[name].as_numpy_dtype))
            for name, value in (parameters or {}).items()
        }

    def _weight(self, name: str, value: np.ndarray) -> Any:
        def initial(shape: Any, dtype: Any = None) -> tf.Tensor:
            return tf.reshape(tf.constant(value), shape)

        return self.add_weight(name=name, shape=value.shape, dtype=value.dtype.name, initializer=initial)

    def call(self, inputs: Any) -> Any:
        """Call the function on the inputs that are no parameters."""
        names = [n for n in self._operation.inputs if n not in self.parameters]
        if isinstance(inputs, Mapping):
            given = dict(inputs)
        else:
            values = list(inputs) if isinstance(inputs, list | tuple) else [inputs]
            if len(values) != len(names):
                takes = f"{counted(len(names), 'input')} ({', '.join(names)})"
                raise ValueError(f"the layer takes {takes}, {number_given(len(values))}")
            given = dict(zip(names, values, strict=True))
        given.update({name: tf.convert_to_tensor(weight) for name, weight in self.parameters.items()})
        if missing := [name for name in names if name not in given]:
            raise ValueError(f"the layer needs the inputs {', '.join(f'`{n}`' for n in missing)} too")
        ordered = zip(self._operation.inputs, self._operation.input_dtypes, strict=True)
        return self._operation.apply(*[_cast(given[name], dtype) for name, dtype in ordered])

    def get_config(self) -> dict[str, Any]:
        """Return what makes the same layer again."""
        return {**super().get_config(), **json.loads(self._config)}


def _cast(value: Any, dtype: tf.DType) -> tf.Tensor:
    tensor = tf.convert_to_tensor(value)
    both = tensor.dtype.is_floating and dtype.is_floating
    return tf.cast(tensor, dtype) if both else tensor
