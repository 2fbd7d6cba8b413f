"""Native calls: static objects of the source, threads, Python code that runs at the same time."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch
from ffgrad.torch import Enzyme
from support.fixtures import Compile, RunPython, Write
from support.programs import PAIR, PAIR_SIGNATURE
from test_autograd import built_masks, vector

# --- what the source may hold -------------------------------------------------------------------------


CONSTRUCTED = """\
#include <cmath>
struct Table {
  double weight[4];
  Table() { for (int k = 0; k < 4; k++) weight[k] = std::sqrt(k + 1.0); }
};
static Table table;
static double offset;
__attribute__((constructor)) static void prepare() { offset = 3; }
extern "C" void weighted(const double* x, int n, double* y) {
  for (int i = 0; i < n; i++) {
    double sum = offset;
    for (double w : table.weight) sum += w * x[i];
    y[i] = sum;
  }
}
"""


def test_static_objects_are_constructed(compile_source: Compile) -> None:
    """A table that the program computes before main, for the values and for the gradient."""
    weighted = compile_source(CONSTRUCTED, "weighted", name="f.cpp")
    total = sum(k**0.5 for k in range(1, 5))
    x = vector(3)
    y = weighted.apply(x)
    torch.testing.assert_close(y, 3 + total * x)
    y.sum().backward()
    torch.testing.assert_close(x.grad, torch.full((3,), total, dtype=torch.float64))
    with torch.no_grad():
        torch.testing.assert_close(weighted.apply(x), 3 + total * x)


OWNING = """\
#include <vector>
static const std::vector<double> table(4, 0.5);
extern "C" void weighted(const double* x, int n, double* y) {
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (double w : table) sum += w * x[i];
    y[i] = sum;
  }
}
"""


def test_a_static_object_with_memory_of_its_own_is_right_or_refused(run_python: RunPython, write: Write) -> None:
    """A global vector has no shadow; in a child process, which must survive."""
    child = run_python(f"""
import ffgrad, torch
from ffgrad.torch import enzyme
x = torch.ones(3, dtype=torch.float64, requires_grad=True)
try:
    y = enzyme({str(write(OWNING, "f.cpp"))!r}, "weighted").apply(x)
    y.sum().backward()
    print(y.tolist() == [2.0] * 3 and x.grad.tolist() == [2.0] * 3)
except ffgrad.DifferentiationError:
    print(True)
""")
    assert child.stdout.strip() == "True"


# --- who else is there --------------------------------------------------------------------------------


def test_eight_threads_get_the_right_results(pair: Enzyme) -> None:
    """Many calls at once, each with arrays of its own and of different sizes."""

    def work(seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        for call in range(40):
            n = 1 + (seed * 7 + call) % 50
            a = torch.randn(n, dtype=torch.float64, generator=generator).requires_grad_()
            b = torch.randn(n, dtype=torch.float64, generator=generator).requires_grad_()
            product, mixed = pair.apply(a, b)
            ga, gb = torch.autograd.grad(product.sum() + mixed.sum(), (a, b))
            torch.testing.assert_close(mixed, a**2 + torch.sin(b))
            torch.testing.assert_close(ga, b + 2 * a)
            torch.testing.assert_close(gb, a + torch.cos(b))

    with ThreadPoolExecutor(max_workers=8) as pool:
        for outcome in [pool.submit(work, seed) for seed in range(24)]:
            outcome.result()


def test_threads_that_start_together_build_once(cache: Path, compile_source: Compile) -> None:
    """The first call of eight threads at one moment: one build, eight right answers."""
    pair = compile_source(PAIR, "pair", PAIR_SIGNATURE)
    barrier = threading.Barrier(8)

    def work(_: int) -> torch.Tensor:
        a = torch.ones(3, dtype=torch.float64, requires_grad=True)
        barrier.wait()
        return torch.autograd.grad(pair.apply(a, 2 * torch.ones(3, dtype=torch.float64))[0].sum(), a)[0]

    with ThreadPoolExecutor(max_workers=8) as pool:
        for gradient in pool.map(work, range(8)):
            assert gradient.tolist() == [2.0, 2.0, 2.0]
    assert built_masks(pair, cache) == {"1"}


LONG = """\
#include <math.h>
void fourier(const double* x, int n, double* y) {
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int k = 1; k <= 300; k++) sum += sin(k * x[i]);
    y[i] = sum;
  }
}
"""


def test_python_goes_on_during_a_native_call(compile_source: Compile) -> None:
    """The GIL is released while foreign code runs, forward and backward."""
    fourier = compile_source(LONG, "fourier", verify="off")
    fourier.apply(vector(2)).sum().backward()  # built
    x = vector(100_000)
    rounds, running = 0, True

    def count() -> None:
        nonlocal rounds
        while running:
            rounds += 1
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    try:
        rounds = 0
        y = fourier.apply(x)
        during_forward, rounds = rounds, 0
        y.sum().backward()
        during_backward = rounds
    finally:
        running = False
        counter.join()
    # With the GIL held one round at most; many are not sure on a busy machine.
    assert during_forward > 4 and during_backward > 4


SLEEPER = """\
#include <unistd.h>
void doze(const double* x, int n, double* y) {
  usleep(1);
  for (int i = 0; i < n; i++) y[i] = 2 * x[i];
}
"""
# Each call waits for the others to come, and gives up after a long time.
MEETING = """\
#include <unistd.h>
static int there;
void meet(const double* x, int n, double* y) {
  __atomic_fetch_add(&there, 1, __ATOMIC_SEQ_CST);
  for (int k = 0; k < 30000 && __atomic_load_n(&there, __ATOMIC_SEQ_CST) < 4; k++) usleep(1000);
  for (int i = 0; i < n; i++) y[i] = __atomic_load_n(&there, __ATOMIC_SEQ_CST);
}
"""


def test_an_inactive_library_function_is_called_and_not_differentiated(compile_source: Compile) -> None:
    """`inactive` is what the error about a function without a body advises."""
    doze = compile_source(SLEEPER, "doze", inactive=["usleep"])
    x = vector(3)
    doze.apply(x).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [2.0, 2.0, 2.0]


def test_native_calls_of_several_threads_overlap(compile_source: Compile) -> None:
    """Four calls that wait for each other."""
    meet = compile_source(MEETING, "meet")
    with ThreadPoolExecutor(max_workers=4) as pool:
        met = list(pool.map(lambda _: meet.apply(vector(2, grad=False)), range(4)))
    assert all(y.tolist() == [4.0, 4.0] for y in met)
