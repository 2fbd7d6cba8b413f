"""Verification follows the path in the JAX front end too: what is wrong at later values only is refused, or right."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from ffgrad import implicit
from support.fixtures import Compile
from support.paths import SLOTS, SLOTS_OPTIONS, SLOTS_SIGNATURE, points, slots_by_hand


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("transform", ["grad", "jit", "vmap"])
def test_a_wrong_gradient_at_later_values_is_never_returned(compile_source: Compile, transform: str) -> None:
    """Traced, compiled, and over a batch."""
    op = compile_source(SLOTS, "toggle", SLOTS_SIGNATURE, **SLOTS_OPTIONS)
    gradient = jax.grad(lambda x: jnp.sum(op(x)))
    if transform == "jit":
        gradient = jax.jit(gradient)
    for x in points(4):
        try:
            if transform == "vmap":
                made = jax.vmap(gradient)(jnp.array([points(0)[0], x]))[1]
            else:
                made = gradient(jnp.array(x))
        except Exception as refusal:
            assert "could be proven right" in str(refusal)  # noqa: PT017
        else:
            np.testing.assert_allclose(np.asarray(made), slots_by_hand(x), rtol=1e-9)


SOLVER = """
double residual(double x, double p) { return x * x * x + x - p; }
double solve(double p, int steps) {
  double x = 1;
  for (int i = 0; i < steps; i++) x -= (x * x * x + x - p) / (3 * x * x + 1);
  return x;
}
double f(double p, int steps) { return solve(p, steps); }
"""


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("transform", ["grad", "jit", "vmap", "hessian"])
def test_a_solver_that_does_not_solve_is_an_error(compile_source: Compile, transform: str) -> None:
    """In the call itself, wherever that is run."""
    op = compile_source(SOLVER, "f", "p, steps -> return", derivatives={"solve": implicit("residual")})

    def gradient(p: float, steps: int) -> float:
        of = jax.hessian if transform == "hessian" else jax.grad
        made = of(lambda q: op(q, steps))
        if transform == "vmap":
            return float(jax.vmap(made)(jnp.array([p, p]))[0])
        return float((jax.jit(made) if transform == "jit" else made)(p))

    x = float(op(3.0, 60))
    slope = 1 / (3 * x * x + 1)
    assert np.isclose(gradient(3.0, 60), -6 * x * slope**3 if transform == "hessian" else slope)
    with pytest.raises(Exception, match="has not solved `residual` in this call"):
        gradient(3.0, 1)
