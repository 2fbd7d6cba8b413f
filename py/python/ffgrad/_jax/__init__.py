"""The parts of :mod:`ffgrad.jax`: the primitive with its rules, the operation, and all use of JAX's private API."""
