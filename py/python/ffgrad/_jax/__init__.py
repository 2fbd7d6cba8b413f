"""What :mod:`ffgrad.jax` is made of: the primitive with its rules, the operation, and what of JAX is not public."""
