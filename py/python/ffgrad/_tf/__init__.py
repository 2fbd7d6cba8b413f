"""The parts of :mod:`ffgrad.tf`: the operation library, the gradients of its operations, shapes, the Keras layer."""

from ffgrad._frameworks import missing

# Here, so that no module of the front end is read without its framework.
try:
    import tensorflow  # noqa: F401
except ModuleNotFoundError as error:
    raise missing(error) from None
