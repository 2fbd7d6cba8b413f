"""A derivative that crashes in a call is an error of that call: the process, and functions called later, go on."""

from __future__ import annotations

from support.fixtures import RunPython, Write
from support.programs import RECURSION

SOURCE = (
    RECURSION
    + """
#include <stdlib.h>
double swing(const double *x, int n) {
  double q = 1, p = 0, c = x[0];
  while (p * p + q * q > 1e-6) { p -= 0.05 * (sin(q) + c * p); q += 0.05 * p; }
  return q * x[1 % n] + c;
}
typedef struct node { double v; struct node *next; } node;
__attribute__((noinline)) static node *drop(node *head, double *lost) {
  node **place = &head;
  while (*place) {
    node *here = *place;
    if (here->v < 0) { *lost += here->v * here->v; *place = here->next; free(here); }
    else place = &here->next;
  }
  return head;
}
double keep(const double *x, int n) {
  node *head = 0;
  double lost = 0, sum = 0;
  for (int i = 0; i < n; i++) { node *one = malloc(sizeof *one); one->v = x[i]; one->next = head; head = one; }
  head = drop(head, &lost);
  while (head) { node *here = head; sum += here->v * here->v * here->v; head = here->next; free(here); }
  return sum - 2 * lost;
}
"""
)

START = """
import resource, threading, warnings
import numpy as np
import ffgrad
from ffgrad.numpy import enzyme

def gradient(f, x, *rest):
    y, pullback = f.vjp(x, *rest)
    return pullback(np.ones_like(y))[0]

def code(f, x, *rest):
    try:
        gradient(f, x, *rest)
    except ffgrad.Error as error:
        return error.code
    return "none"
"""

# A thread with a stack of 1 GiB gets no larger one for derivatives.
DEEP = """
f = enzyme(source, "recurse", "x[n], depth -> y[n]")
x = np.linspace(0.1, 0.9, 3)
first = gradient(f, x, 100.0)
seen = []
def run():
    for _ in range(2):
        assert np.isfinite(f(x, 1.2e7)).all()
        seen.append(code(f, x, 1.2e7))
    np.testing.assert_array_equal(gradient(f, x, 100.0), first)
threading.stack_size(1 << 30)
thread = threading.Thread(target=run)
thread.start(); thread.join()
print(*seen)
np.testing.assert_array_equal(gradient(f, x, 100.0), first)
"""

MEMORY = """
f = enzyme(source, "swing", "x[n] -> return")
gradient(f, np.array([1.0, 2.0]))
known = gradient(f, np.array([1e-3, 2.0]))
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
print(np.isfinite(f(np.array([1e-6, 2.0]))))
print(code(f, np.array([1e-6, 2.0])))
np.testing.assert_array_equal(gradient(f, np.array([1e-3, 2.0])), known)
"""

NODES = """
f = enzyme(source, "keep", "x[n] -> return")
rng = np.random.default_rng(1)
right = refused = 0
warnings.simplefilter("ignore")
for k in range(120):
    x = rng.uniform(-2, 2, (8, 5, 12, 3)[k % 4])
    try:
        found = gradient(f, x)
    except ffgrad.DifferentiationError:
        refused += 1
        continue
    np.testing.assert_allclose(found, np.where(x < 0, -4 * x, 3 * x * x), rtol=1e-10)
    right += 1
print(right > 60, right + refused)
"""


def test_a_recursion_too_deep_for_its_derivative_is_an_error_each_time(write: Write, run_python: RunPython) -> None:
    run = run_python(f"source = {str(write(SOURCE))!r}\n" + START + DEEP)
    assert run.returncode == 0, run.stderr
    answers = run.stdout.split()
    assert len(answers) == 2
    assert set(answers) <= {"derivative-crashed", "unproven-gradient"}


def test_a_derivative_that_is_short_of_memory_is_an_error(write: Write, run_python: RunPython) -> None:
    run = run_python(f"source = {str(write(SOURCE))!r}\n" + START + MEMORY)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == ["True", "derivative-out-of-memory"]


def test_nodes_removed_from_a_list_never_end_the_process(write: Write, run_python: RunPython) -> None:
    """Enzyme's derivative crashes where all nodes go, and is right elsewhere: a path that only some values take."""
    run = run_python(f"source = {str(write(SOURCE))!r}\n" + START + NODES)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == ["True", "120"]
