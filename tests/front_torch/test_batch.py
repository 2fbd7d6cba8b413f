"""Calls over a batch, as the front ends' vmap makes them: one native loop, against the same calls one by one."""

from __future__ import annotations

import math
from typing import Any

import ffgrad
import pytest
import torch
from ffgrad._native import Batch
from support.fixtures import Compile
from support.programs import CUBE, DECAY, DECAY_SIGNATURE, PAIR, PAIR_SIGNATURE, STEP, STEP_SIGNATURE, THROWS


def normal(*shape: int) -> torch.Tensor:
    """Normal numbers in double precision."""
    return torch.randn(shape, dtype=torch.float64)


def element(array: Any, batched: bool, index: tuple[int, ...]) -> Any:
    """One element's part of an array: index 0 where the array has 1 for a batch dimension."""
    if array is None or not batched:
        return array
    return array[tuple(0 if array.shape[d] == 1 else i for d, i in enumerate(index))].clone()


def indices(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """All elements of a batch."""
    return list(torch.cartesian_prod(*[torch.arange(d) for d in shape]).reshape(-1, len(shape)).tolist())


class Loop:
    """The same calls one by one: what a batched call must agree with."""

    def __init__(self, native: Any, shape: tuple[int, ...], **masks: int) -> None:
        self.native, self.shape, self.masks = native, shape, masks
        self.batch = Batch(shape, **masks)

    def _part(self, what: str, arrays: tuple[Any, ...], index: tuple[int, ...]) -> tuple[Any, ...]:
        mask = self.masks.get(what, 0)
        return tuple(element(a, bool(mask >> i & 1), index) for i, a in enumerate(arrays))

    def _stack(self, results: list[tuple[Any, ...]]) -> list[Any]:
        columns = zip(*results, strict=True)
        return [None if c[0] is None else torch.stack(c).reshape(*self.shape, *c[0].shape) for c in columns]

    def primal(self, inputs: tuple[Any, ...]) -> None:
        """Compare the values."""
        got = self.native.primal(inputs, 0, self.batch)
        want = self._stack([self.native.primal(self._part("inputs", inputs, i), 0) for i in indices(self.shape)])
        self._same(got, want)

    def jvp(self, inputs: tuple[Any, ...], tangents: tuple[Any, ...]) -> None:
        """Compare tangents of the outputs."""
        got = self.native.jvp(inputs, tangents, self.batch)
        want = [
            self.native.jvp(self._part("inputs", inputs, i), self._part("tangents", tangents, i))
            for i in indices(self.shape)
        ]
        self._same(got, self._stack(want))

    def vjp(self, inputs: tuple[Any, ...], cotangents: tuple[Any, ...], mask: int) -> None:
        """Compare gradients: summed for shared inputs unless separate."""
        got = self.native.vjp(inputs, cotangents, mask, self.batch)
        want = [
            self.native.vjp(self._part("inputs", inputs, i), self._part("cotangents", cotangents, i), mask)
            for i in indices(self.shape)
        ]
        self._same(got, self._gradients(inputs, self._stack(want)))

    def hvp(self, inputs: tuple[Any, ...], cotangents: tuple[Any, ...], tangents: tuple[Any, ...], mask: int) -> None:
        """Compare second derivatives."""
        got = self.native.hvp(inputs, cotangents, tangents, mask, self.batch)
        want = [
            self.native.hvp(
                self._part("inputs", inputs, i),
                self._part("cotangents", cotangents, i),
                self._part("tangents", tangents, i),
                mask,
            )
            for i in indices(self.shape)
        ]
        self._same(got, self._gradients(inputs, self._stack(want)))

    def _gradients(self, inputs: tuple[Any, ...], whole: list[Any]) -> list[Any]:
        separate = self.masks.get("separate", 0)
        return [
            g if g is None or separate >> i & 1 else g.sum_to_size(x.shape)
            for i, (g, x) in enumerate(zip(whole, inputs, strict=True))
        ]

    @staticmethod
    def _same(got: Any, want: Any) -> None:
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            assert (g is None) == (w is None)
            if g is not None:
                assert g.shape == w.shape
                torch.testing.assert_close(g, w, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("separate", [0, 0b111])
@pytest.mark.parametrize("batched", [0b111, 0b001, 0b010, 0b100, 0b000])
def test_a_batch_agrees_with_a_loop(compile_source: Compile, batched: int, separate: int, threads: int) -> None:
    """Every entry point, for every choice of shared inputs: in place, by pointer, by value."""
    native = compile_source(STEP, "step", STEP_SIGNATURE, threads=threads)._native
    shape, n = (5,), 4
    lead = [shape if batched >> i & 1 else () for i in range(3)]
    inputs = (normal(*lead[0], n), normal(*lead[1], n, n), normal(*lead[2]))
    loop = Loop(native, shape, inputs=batched, cotangents=0b01, tangents=0b011, separate=separate)
    cotangents, tangents = (normal(5, n), normal()), (normal(5, n), normal(5, n, n), normal())
    loop.primal(inputs)
    loop.jvp(inputs, tangents)
    loop.vjp(inputs, cotangents, 0b111)
    loop.vjp(inputs, (None, cotangents[1]), 0b010)
    loop.hvp(inputs, cotangents, tangents, 0b111)


@pytest.mark.parametrize("threads", [1, 4])
def test_several_batch_dimensions_broadcast(compile_source: Compile, threads: int) -> None:
    """A batch dimension of 1 stands for all; its gradient is the sum over it."""
    native = compile_source(PAIR, "pair", PAIR_SIGNATURE, threads=threads)._native
    shape = (3, 4)
    inputs, cotangents = (normal(3, 1, 5), normal(1, 4, 5)), (normal(3, 4, 5), normal(1, 1, 5))
    loop = Loop(native, shape, inputs=0b11, cotangents=0b11, tangents=0b01)
    loop.primal(inputs)
    loop.vjp(inputs, cotangents, 0b11)
    loop.jvp(inputs, (normal(3, 4, 5), normal(5)))
    Loop(native, shape, inputs=0b11, cotangents=0b11, separate=0b10).vjp(inputs, cotangents, 0b11)


def test_arrays_of_any_stride_are_right(compile_source: Compile) -> None:
    """Only the part of an element must be contiguous not to be copied; expanded dimensions are not made real."""
    native = compile_source(CUBE, "cube")._native
    x, v = normal(7, 5), normal(5, 7)
    loop = Loop(native, (7,), inputs=1, cotangents=1)
    loop.vjp((x[:, ::2],), (v.T[:, ::2],), 1)
    loop.vjp((x[:1].expand(7, 5),), (v[0, :1].expand(7, 5),), 1)
    before = ffgrad.copies()["gathered"]
    native.primal((x.flip(0).as_strided((7, 5), (5, 1)),), 0, Batch((7,), inputs=1))
    native.primal((normal(9, 8)[1:8, :5],), 0, Batch((7,), inputs=1))
    assert ffgrad.copies()["gathered"] == before
    native.primal((normal(5, 7).T,), 0, Batch((7,), inputs=1))
    assert ffgrad.copies()["gathered"] == before + 7 * 5 * 8


def test_single_precision_sums_are_right(compile_source: Compile) -> None:
    """Sums of single-precision gradients, one thread and several."""
    source = CUBE.replace("double", "float")
    for threads in (1, 2):
        native = compile_source(source, "cube", threads=threads)._native
        x, v = torch.randn(6), torch.randn(8, 6)
        (gradient,) = native.vjp((x,), (v,), 1, Batch((8,), cotangents=1))
        torch.testing.assert_close(gradient, (v * 3 * x * x).sum(0))


@pytest.mark.parametrize("threads", [1, 2])
def test_an_empty_batch_gives_empty_results_and_zero_sums(compile_source: Compile, threads: int) -> None:
    """Nothing runs, and nothing needs a proof."""
    native = compile_source(PAIR, "pair", PAIR_SIGNATURE, threads=threads)._native
    batch = Batch((2, 0), inputs=0b01, cotangents=0b11, tangents=0b01)
    inputs = (normal(2, 0, 3), normal(3))
    assert [y.shape for y in native.primal(inputs, 3, batch)] == [(2, 0, 3), (2, 0, 3)]
    a, b = native.vjp(inputs, (normal(2, 0, 3), normal(2, 0, 3)), 3, batch)
    assert a.shape == (2, 0, 3)
    assert torch.equal(b, torch.zeros(3, dtype=torch.float64))
    assert [y.shape for y in native.jvp(inputs, (normal(2, 0, 3), None), batch)] == [(2, 0, 3), (2, 0, 3)]


def test_empty_elements_have_empty_gradients(compile_source: Compile) -> None:
    """Four elements of no numbers."""
    native = compile_source(CUBE, "cube")._native
    (gradient,) = native.vjp((normal(0),), (normal(4, 0),), 1, Batch((4,), cotangents=1))
    assert gradient.shape == (0,)


def test_sums_do_not_depend_on_when_threads_run(compile_source: Compile) -> None:
    """The same call gives the same bits."""
    native = compile_source(STEP, "step", STEP_SIGNATURE, threads=4)._native
    inputs, batch = (normal(33, 6), normal(6, 6), 0.1), Batch((33,), inputs=1, cotangents=0b11)
    cotangents = (normal(33, 6), normal(33))
    first = native.vjp(inputs, cotangents, 0b11, batch)
    for _ in range(20):
        again = native.vjp(inputs, cotangents, 0b11, batch)
        assert all(torch.equal(x, y) for x, y in zip(first[:2], again[:2], strict=True))


@pytest.mark.parametrize("threads", [1, 3])
def test_an_exception_names_the_element(compile_source: Compile, threads: int) -> None:
    """The first element that throws, whichever thread meets it."""
    native = compile_source(THROWS, "positive", "x[n] -> y[n]", name="f.cpp", threads=threads)._native
    x = torch.ones(6, 2, dtype=torch.float64)
    x[2, 1] = x[5, 0] = -1
    with pytest.raises(ffgrad.ForeignError, match='threw "negative" at element 2 of the batch'):
        native.primal((x,), 0, Batch((6,), inputs=1))
    with pytest.raises(ffgrad.ForeignError, match=r'threw "negative" at element \[1, 0\] of the batch'):
        native.primal((x.reshape(3, 2, 2),), 0, Batch((3, 2), inputs=1))


@pytest.mark.parametrize("shape", [(4, 3), (2, 3), (3,)])
def test_a_wrong_batch_size_is_a_shape_error(compile_source: Compile, shape: tuple[int, ...]) -> None:
    """It names the array and both sizes."""
    native = compile_source(PAIR, "pair", PAIR_SIGNATURE)._native
    with pytest.raises(ffgrad.ShapeError, match=r"`b` has the shape .* but the batch is \[5\]"):
        native.primal((normal(5, 3), normal(*shape)), 0, Batch((5,), inputs=0b11))


def test_a_wrong_element_shape_is_a_shape_error(compile_source: Compile) -> None:
    """As without a batch."""
    native = compile_source(PAIR, "pair", PAIR_SIGNATURE)._native
    with pytest.raises(ffgrad.ShapeError, match="`n` is 3 in"):
        native.primal((normal(5, 3), normal(5, 4)), 0, Batch((5,), inputs=0b11))
    with pytest.raises(ffgrad.SignatureError, match="cotangent of `product`"):
        native.vjp((normal(5, 3), normal(5, 3)), (normal(5, 2), None), 1, Batch((5,), inputs=0b11, cotangents=0b1))


def test_a_number_is_shared(compile_source: Compile) -> None:
    """Python numbers have no batch, whatever their bit says."""
    native = compile_source(DECAY, "decay", DECAY_SIGNATURE)._native
    t = normal(4, 3)
    (y,) = native.primal((t, 2.0, 0.5), 0, Batch((4,), inputs=0b111))
    torch.testing.assert_close(y, 2.0 * torch.exp(-0.5 * t))


def test_what_proves_nothing_at_the_first_element_is_checked_at_the_next(compile_source: Compile) -> None:
    """A gradient that is zero at element 0 is proven at another before it is used."""
    source = """
    void gate(const double* x, int n, double* y) {
      for (int i = 0; i < n; i++) y[i] = x[i] > 100 ? x[i] * x[i] : 0.0;
    }
    """
    gate = compile_source(source, "gate", "x[n] -> y[n]")
    x = torch.tensor([[1.0, 2.0], [200.0, 300.0]], dtype=torch.float64)
    (gradient,) = gate._native.vjp((x,), (torch.ones_like(x),), 1, Batch((2,), inputs=1, cotangents=1))
    torch.testing.assert_close(gradient, torch.where(x > 100, 2 * x, 0.0))
    assert math.isfinite(gradient.sum().item())


# The derivative is right for three numbers, and where the first one is small there is none.
GATED = """
double total(const double* x, int n) {
  double s = 0;
  if (x[0] > 100) for (int i = 0; i < n; i++) s += x[i] * x[i];
  return s;
}
double total_fwd(const double* x, const double* dx, int n, double* dreturn) {
  *dreturn = 0;
  if (x[0] > 100) for (int i = 0; i < n; i++) *dreturn += 2 * x[i] * dx[i];
  return total(x, n);
}
void total_rev(const double* x, double* dx, int n, double dreturn) {
  if (x[0] > 100) for (int i = 0; i < 3; i++) dx[i] += 2 * x[i] * dreturn;
}
void f(const double* x, int n, double* y) { y[0] = total(x, n); }
"""


@pytest.mark.parametrize("options", [{}, {"specialize": True}])
def test_a_new_size_that_proves_nothing_at_the_first_element_is_checked_at_the_next(
    compile_source: Compile, options: dict[str, Any]
) -> None:
    """Though the derivative was proven at another size."""
    rules = {"total": ("total_fwd", "total_rev")}
    native = compile_source(f"{GATED}// {options}", "f", "x[n] -> y[1]", derivatives=rules, **options)._native
    native.vjp((torch.full((3,), 200.0, dtype=torch.float64),), (torch.ones(1, dtype=torch.float64),), 1)
    x = torch.full((4, 5), 200.0, dtype=torch.float64)
    x[0] = 1
    with pytest.raises(ffgrad.DifferentiationError, match="the reverse derivative given for `total` is wrong"):
        native.vjp((x,), (torch.ones(4, 1, dtype=torch.float64),), 1, Batch((4,), inputs=1, cotangents=1))


def test_of_a_batch_that_proves_nothing_new_only_some_elements_are_checked(compile_source: Compile) -> None:
    """Else one that is constant at new sizes would take many times as long. The function's own calls are counted."""
    source = """
    void constant(const double* x, int n, double* y, long long* calls) {
      static long long count;
      *calls = ++count;
      for (int i = 0; i < n; i++) y[i] = x[i] > 100 ? x[i] * x[i] : 1.0;
    }
    """
    native = compile_source(source, "constant", "x[n] -> y[n], calls[1]")._native
    proving = torch.full((3,), 200.0, dtype=torch.float64)
    native.vjp((proving,), (torch.ones_like(proving), None), 1)
    x, elements = torch.ones(20_000, 2, dtype=torch.float64), Batch((20_000,), inputs=1, cotangents=1)
    (gradient,) = native.vjp((x,), (torch.ones_like(x), None), 1, elements)
    assert not gradient.any()
    _, calls = native.primal((x[0],), 0)
    assert calls.item() < 100_000


def test_until_something_is_proven_every_element_is_tried(compile_source: Compile) -> None:
    """A derivative that is wrong only for the last of many elements."""
    rules = {"total": ("total_fwd", "total_rev")}
    native = compile_source(f"{GATED}// at first", "f", "x[n] -> y[1]", derivatives=rules)._native
    x = torch.ones(200, 5, dtype=torch.float64)
    x[-1] = 200
    with pytest.raises(ffgrad.DifferentiationError, match="the reverse derivative given for `total` is wrong"):
        native.vjp((x,), (torch.ones(200, 1, dtype=torch.float64),), 1, Batch((200,), inputs=1, cotangents=1))
