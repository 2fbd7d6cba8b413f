"""Loops over steps (``repeat``) of Fortran procedures: state in Fortran's order, names in any case."""

from __future__ import annotations

import numpy as np
import pytest
from ffgrad.errors import SignatureError
from ffgrad.numpy import enzyme
from support.fixtures import Write

ADVANCE = """\
subroutine advance(u, k, q, s, n, m)
  implicit none
  integer, intent(in) :: n, m
  real(8), intent(inout) :: u(n, m)
  real(8), intent(in) :: k(n, m), q(m)
  real(8), intent(out) :: s
  integer :: i, j
  do j = 1, m
    do i = 1, n
      u(i, j) = u(i, j) + 0.1d0 * k(i, j) * sin(u(i, j)) + 0.01d0 * q(j) * i
    end do
  end do
  s = sum(u * u)
end subroutine
"""


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_matrix_is_carried(write: Write, order: str) -> None:
    """In either order of the caller's arrays; values and gradients against NumPy and the forward mode."""
    op = enzyme(write(ADVANCE, "f.f90"), "advance", "u, k, q[T,m] -> u, s[t]", repeat="T", snapshots=2)
    random = np.random.default_rng(0)
    u, k = (np.array(random.normal(size=(3, 4)), order=order) for _ in range(2))
    q = random.normal(size=(9, 4))
    state, sums = u.copy(), []
    for row in q:
        state = state + 0.1 * k * np.sin(state) + 0.01 * row * np.arange(1, 4)[:, None]
        sums.append((state**2).sum())
    inputs = (u, k, q)
    tangents = tuple(np.array(random.normal(size=x.shape), order=order) for x in inputs)
    values, forward = op.jvp(inputs, tangents)
    np.testing.assert_allclose(values[0], state, rtol=1e-13)
    np.testing.assert_allclose(values[1], sums, rtol=1e-13)
    cotangents = tuple(random.normal(size=x.shape) for x in values)
    gradients = op.vjp(*inputs)[1](cotangents)
    left = sum((a * b).sum() for a, b in zip(gradients, tangents, strict=True))
    assert left == pytest.approx(sum((a * b).sum() for a, b in zip(forward, cotangents, strict=True)), rel=1e-12)


def test_a_matrix_for_each_step_is_refused(write: Write) -> None:
    """With what to pass instead."""
    with pytest.raises(SignatureError, match="`k` has 2 dimensions in Fortran's order and one for each step"):
        enzyme(write(ADVANCE, "f.f90"), "advance", "u, k[t,n,m], q -> u, s[t]", repeat="t")
