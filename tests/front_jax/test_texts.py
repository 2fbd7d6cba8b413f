"""Texts as arguments in JAX."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from ffgrad.jax import enzyme
from support.fixtures import Write

SOURCE = """
double f(const char *kind, const double *x, int n) {
  double s = 0;
  for (int i = 0; i < n; i++) s += kind[0] == 's' ? x[i] * x[i] : x[i];
  return s;
}
"""


def test_a_text_is_a_constant_of_a_traced_call(write: Write) -> None:
    """Eagerly and under jit."""
    f = enzyme(write(SOURCE), "f", "kind, x[n] -> return")
    x = jnp.array([1.0, 2.0])
    assert f("squares", x) == 5.0
    assert jnp.array_equal(jax.jit(jax.grad(lambda x: f("squares", x)))(x), 2 * x)
