"""Memory stays flat over many calls, and what the foreign code allocates is freed by its derivative."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path

import ffgrad
import pytest
import torch
from ffgrad.torch import Enzyme, enzyme
from support.fixtures import resident
from support.loader import load_cases

MEGABYTE = 1 << 20


def growth(work: Callable[[], None], warm_up: int, calls: int) -> int:
    """Bytes that the process gained over ``calls`` calls, after ``warm_up`` calls."""
    for _ in range(warm_up):
        work()
    gc.collect()
    before = resident()
    for _ in range(calls):
        work()
    gc.collect()
    return resident() - before


def opened(name: str) -> Enzyme:
    """Open a case of the table."""
    (case,) = load_cases(names=[name])
    return enzyme(case.source, case.function, case.signature, **case.options)  # type: ignore[arg-type]


pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="resident memory is read from /proc")


def test_memory_is_flat_over_a_hundred_thousand_calls() -> None:
    """Forward and backward of the classic function at n = 16. One leaked array a call would be 6 MB."""
    f = opened("classic")
    x = torch.linspace(0.5, 2.0, 16, requires_grad=True)

    def work() -> None:
        torch.autograd.grad(f.apply(x).sum(), x)

    assert growth(work, warm_up=5_000, calls=100_000) < 2 * MEGABYTE


@pytest.mark.parametrize(
    "name", ["std_vector", "malloc_free", "vector_push_back", "linked_list", "in_place_step", "scratch"]
)
def test_memory_of_the_foreign_code_is_freed(name: str) -> None:
    """Vectors and malloc, forward and backward, 5000 times: a leaked block of 64 bytes a call would show."""
    f = opened(name)
    (case,) = load_cases(names=[name])
    inputs = [
        torch.tensor(v, requires_grad=i.differentiable) for v, i in zip(case.make_inputs(), case.inputs, strict=True)
    ]
    active = [x for x in inputs if x.requires_grad]

    def work() -> None:
        torch.autograd.grad(f.apply(*inputs).sum(), active)

    assert growth(work, warm_up=1_000, calls=5_000) < MEGABYTE // 4


def test_memory_of_large_calls_settles() -> None:
    """Working memory may be kept for the next call, but is not piled up: one array a call would be 240 MB.

    The allocator of a process with a past may take some new blocks before it finds its old ones again.
    """
    f = opened("malloc_free")

    def work() -> None:
        x = torch.randn(1_000_000, dtype=torch.float64, requires_grad=True)
        torch.autograd.grad(f.apply(x).sum(), x)

    assert growth(work, warm_up=5, calls=30) < 120 * MEGABYTE


def test_outputs_live_as_long_as_their_tensors() -> None:
    """Not as long as the call or the operation."""
    f = opened("default_two_inputs")
    x = torch.randn(7, dtype=torch.float64)
    y = f.apply(x, x)
    kept = y.clone()
    del f
    gc.collect()
    _ = [torch.randn(7, dtype=torch.float64) for _ in range(100)]
    assert torch.equal(y, kept)


def test_want_of_memory_is_a_typed_error(tmp_path: Path) -> None:
    """A scratch array larger than any address space: the call is refused, the next function works."""
    source = tmp_path / "work.c"
    source.write_text(
        "#include <stddef.h>\n"
        "void square(const double *x, size_t m, double *w, double *y) { w[m - 1] = x[0]; y[0] = w[m - 1] * x[0]; }\n"
    )
    x = torch.tensor([3.0], dtype=torch.float64, requires_grad=True)
    huge = enzyme(source, "square", "x[1] -> y[1]; w[m]", sizes={"m": 2**56})
    with pytest.raises(ffgrad.OutOfMemoryError, match="GiB more memory than there is") as caught:
        huge.apply(x)
    # What a caller who knows nothing of ffgrad catches, and in a call without a gradient too.
    assert isinstance(caught.value, MemoryError) and caught.value.code == "out-of-memory"
    with pytest.raises(MemoryError, match="a scratch array"):
        huge.apply(x.detach())
    enzyme(source, "square", "x[1] -> y[1]; w[m]", sizes={"m": 8}).apply(x).backward()
    assert x.grad is not None and x.grad.tolist() == [6.0]
