"""JAX: a foreign function as a primitive with its derivatives.

    from ffgrad.jax import enzyme

    f = enzyme("test.c", "f")
    y = f.apply(x)            # or f(x)
    jax.grad(lambda x: f(x).sum())(x)

Works under ``jit``, ``grad``, ``vjp``, ``jvp``, ``jacfwd``, ``jacrev``, ``hessian``, ``vmap`` (one native call for a batch),
``lax.scan``, ``checkpoint``, ``shard_map`` and their compositions, up to second derivatives. XLA's buffers are used
in place. ``docs/jax.md`` has the rest.
"""

from ffgrad._jax.operation import Enzyme, enzyme

__all__ = ["Enzyme", "enzyme"]
