"""The parts of :mod:`ffgrad.tf`: the operation library, the gradients of its operations, shapes, the Keras layer."""
