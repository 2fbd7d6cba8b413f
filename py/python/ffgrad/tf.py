"""TensorFlow: a foreign function as an operation with its gradient.

    from ffgrad.tf import enzyme

    f = enzyme("test.c", "f")
    with tf.GradientTape() as tape:
        y = f.apply(x)        # or f(x)
    tape.gradient(y, x)

Works eagerly, in ``tf.function``, in ``tf.data`` and in Keras (:class:`EnzymeLayer`); gradients of first and second
order, forward accumulators. Tensors are passed without a copy. Outputs are allocated by TensorFlow. ``docs/tensorflow.md``
has the rest.
"""

from ffgrad._tf.layer import EnzymeLayer
from ffgrad._tf.operation import Enzyme, enzyme

__all__ = ["Enzyme", "EnzymeLayer", "enzyme"]
