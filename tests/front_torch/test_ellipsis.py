"""`...` in a signature: the function mapped over leading dimensions, from eager torch."""

from __future__ import annotations

import ffgrad
import pytest
import torch
from ffgrad._native import Batch
from support.fixtures import Compile
from support.programs import STEP, THROWS
from torch.autograd import forward_ad, gradcheck, gradgradcheck

AFFINE = """\
void affine(const double* A, const double* x, double shift, int m, int n, double* y) {
  for (int i = 0; i < m; i++) {
    y[i] = shift;
    for (int j = 0; j < n; j++) y[i] += A[i * n + j] * x[j] * x[j];
  }
}
"""
LOSS = """\
double loss(const double* x, const double* w, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += w[i] * x[i] * x[i];
  return sum;
}
"""


def affine(A: torch.Tensor, x: torch.Tensor, shift: torch.Tensor) -> torch.Tensor:
    """Compute what AFFINE does, over a batch."""
    return torch.einsum("mn,...n->...m", A, x * x) + shift[..., None]


def normal(*shape: int, grad: bool = False) -> torch.Tensor:
    """Normal numbers in double precision."""
    return torch.randn(shape, dtype=torch.float64, requires_grad=grad)


@pytest.mark.parametrize("batch", [(), (4,), (2, 3), (1, 3, 2)])
def test_values_and_gradients_over_a_batch(compile_source: Compile, batch: tuple[int, ...]) -> None:
    """Any number of batch dimensions, none included; the gradient of the shared matrix is the sum."""
    f = compile_source(AFFINE, "affine", "A[m,n], x[...,n], shift[...] -> y[...,m]")
    inputs = (normal(3, 5, grad=True), normal(*batch, 5, grad=True), normal(*batch, grad=True))
    torch.testing.assert_close(f.apply(*inputs), affine(*inputs))
    v = normal(*batch, 3)
    got = torch.autograd.grad((f.apply(*inputs) * v).sum(), inputs)
    want = torch.autograd.grad((affine(*inputs) * v).sum(), inputs)
    for g, w in zip(got, want, strict=True):
        torch.testing.assert_close(g, w)
    assert gradcheck(f.apply, inputs, check_forward_ad=True)
    assert gradgradcheck(f.apply, inputs)


@pytest.mark.parametrize("threads", [1, 3])
def test_batch_dimensions_broadcast(compile_source: Compile, threads: int) -> None:
    """As in NumPy, counted from the last; each gradient has its input's own shape."""
    f = compile_source(AFFINE, "affine", "A[...,m,n], x[...,n], shift[...] -> y[...,m]", threads=threads)
    inputs = (normal(4, 1, 3, 5, grad=True), normal(6, 5, grad=True), normal(4, 6, grad=True))
    want = torch.einsum("bamn,an->bam", inputs[0].expand(4, 6, 3, 5), inputs[1] ** 2) + inputs[2][..., None]
    torch.testing.assert_close(f.apply(*inputs), want)
    assert gradcheck(f.apply, inputs, check_forward_ad=True)


def test_a_function_value_is_one_an_element(compile_source: Compile) -> None:
    """`return[...]`."""
    f = compile_source(LOSS, "loss", "x[...,n], w[n] -> return[...]")
    x, w = normal(2, 4, 3, grad=True), normal(3, grad=True)
    torch.testing.assert_close(f.apply(x, w), (w * x * x).sum(-1))
    assert gradcheck(f.apply, (x, w), check_forward_ad=True)
    assert f.signature == "x[...,n], w[n] -> return[...]"


def test_an_argument_updated_in_place_is_broadcast(compile_source: Compile) -> None:
    """The caller's array stays as it was, and gets the sum of all its elements' gradients."""
    step = compile_source(STEP, "step", "u[...,n], A[n,n], dt[...] -> u[...,n], energy[...]; work[n]")
    u, A, dt = normal(4, grad=True), normal(4, 4, grad=True), normal(5, grad=True)
    before = u.detach().clone()
    moved, energy = step.apply(u, A, dt)
    assert moved.shape == (5, 4)
    assert torch.equal(u, before)
    torch.testing.assert_close(moved, u + dt[:, None] * (A @ u.sin()))
    torch.testing.assert_close(energy, (moved**2).sum(-1))
    assert gradcheck(step.apply, (u, A, dt), check_forward_ad=True)
    assert gradgradcheck(step.apply, (u, A, dt))


def test_an_empty_batch_works(compile_source: Compile) -> None:
    """The sum over no elements is zero."""
    f = compile_source(AFFINE, "affine", "A[m,n], x[...,n], shift[...] -> y[...,m]")
    A, x = normal(3, 5, grad=True), normal(2, 0, 5, grad=True)
    y = f.apply(A, x, 1.0)
    assert y.shape == (2, 0, 3)
    y.sum().backward()
    assert torch.equal(A.grad, torch.zeros_like(A))
    assert x.grad.shape == x.shape


def test_contiguous_batches_are_not_copied(compile_source: Compile) -> None:
    """Nor is a slice of one, nor an expanded one."""
    f = compile_source(LOSS, "loss", "x[...,n], w[n] -> return[...]")
    x, w = normal(8, 3), normal(3)
    before = ffgrad.copies()
    for batch in (x, x[::2], x[:1].expand(100, 3), normal(4, 5, 3).transpose(0, 1)):
        torch.testing.assert_close(f.apply(batch, w), (w * batch * batch).sum(-1))
    assert ffgrad.copies() == before


def test_mapping_over_a_function_that_maps_by_itself(compile_source: Compile) -> None:
    """The caller's batch stands before the signature's; a separate gradient is one for each of the caller's."""
    f = compile_source(LOSS, "loss", "x[...,n], w[n] -> return[...]")
    x, w, v = normal(2, 4, 3), normal(5, 3), normal(5, 2, 4)
    batch = Batch((5,), inputs=0b10, cotangents=1, separate=0b11)
    (y,) = f._native.primal((x, w), 0, batch)
    torch.testing.assert_close(y, torch.einsum("kn,abn->kab", w, x * x))
    dx, dw = f._native.vjp((x, w), (v,), 0b11, batch)
    torch.testing.assert_close(dx, 2 * torch.einsum("kab,kn,abn->kabn", v, w, x))
    torch.testing.assert_close(dw, torch.einsum("kab,abn->kn", v, x * x))
    dx, _ = f._native.vjp((x, w), (v,), 0b11, Batch((5,), inputs=0b10, cotangents=1))
    torch.testing.assert_close(dx, 2 * torch.einsum("kab,kn,abn->abn", v, w, x))


def test_forward_mode_over_a_batch(compile_source: Compile) -> None:
    """Tangents of some inputs."""
    f = compile_source(LOSS, "loss", "x[...,n], w[n] -> return[...]")
    x, w, t = normal(6, 3), normal(3), normal(3)
    with forward_ad.dual_level():
        y = f.apply(x, forward_ad.make_dual(w, t))
        torch.testing.assert_close(forward_ad.unpack_dual(y).tangent, (t * x * x).sum(-1))


def test_shapes_that_do_not_fit_are_explained(compile_source: Compile) -> None:
    """Batch dimensions that differ, and dimensions that are missing."""
    f = compile_source(AFFINE, "affine", "A[...,m,n], x[...,n], shift[...] -> y[...,m]")
    with pytest.raises(ffgrad.ShapeError, match=r"are \[4\] in `A\[...,m,n\]` but \[3\] in `x\[...,n\]`: they must be"):
        f.apply(normal(4, 3, 5), normal(3, 5), 0.0)
    with pytest.raises(ffgrad.ShapeError, match=r"`A` has the shape \[5\]: expected 2 dimensions, `A\[...,m,n\]`"):
        f.apply(normal(5), normal(3, 5), 0.0)
    with pytest.raises(ffgrad.ShapeError, match=r"`n` is 5 in `A\[...,m,n\]` \(dimension 1 after `...`\) but 4 in"):
        f.apply(normal(3, 5), normal(7, 4), 0.0)


def test_a_signature_whose_dots_do_not_fit_is_refused(compile_source: Compile) -> None:
    """With what to write instead."""
    with pytest.raises(ffgrad.SignatureError, match=r"write `y\[...,m\]`"):
        compile_source(AFFINE, "affine", "A[m,n], x[...,n], shift -> y[m]")


def test_an_exception_names_the_element(compile_source: Compile) -> None:
    """As a list of indices where there are several batch dimensions."""
    f = compile_source(THROWS, "positive", "x[...,n] -> y[...,n]", name="f.cpp")
    x = torch.ones(2, 3, 4, dtype=torch.float64)
    x[1, 0, 2] = -1
    with pytest.raises(ffgrad.ForeignError, match=r'threw "negative" at element \[1, 0\] of the batch'):
        f.apply(x)
