"""The parts of :mod:`ffgrad.jax`: the primitive with its rules, the operation, and all use of JAX's private API."""

from ffgrad._frameworks import missing

# Here, so that no module of the front end is read without its framework.
try:
    import jax  # noqa: F401
except ModuleNotFoundError as error:
    raise missing(error) from None
