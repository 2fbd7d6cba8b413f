"""What a function prints: once for each call that a person makes; checks and timings are silent."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.fixtures import RunPython

SOURCE = """
#include <stdio.h>
double talks(const double* x, int n) {
  double s = 0;
  for (int i = 0; i < n; i++) s += x[i] > 0 ? x[i] * x[i] : x[i];
  printf("called\\n");
  fflush(stdout);
  return s;
}
"""


@pytest.mark.parametrize("options", ["", "verify='always'", "tune=True", "specialize=True", "mode='tape'"])
def test_a_function_prints_once_a_call(options: str, cache: Path, tmp_path: Path, run_python: RunPython) -> None:
    """And once more where the reverse pass runs it again (all modes but the tape's)."""
    (tmp_path / "talks.c").write_text(SOURCE)
    child = run_python(
        f"""
import torch
from ffgrad.torch import enzyme
f = enzyme("talks.c", "talks", "x[n] -> return", {options})
# The second is another size, the third another path: both are verified.
for values in ([1.0, 2.0], [1.0, 2.0, 3.0], [1.0, -2.0]):
    x = torch.tensor(values, dtype=torch.float64, requires_grad=True)
    f(x).backward()
    assert x.grad.tolist() == [2 * v if v > 0 else 1.0 for v in values]
"""
    )
    assert child.stdout.splitlines() == ["called"] * (3 if "tape" in options else 6)


def test_how_often_a_function_runs_is_as_documented(cache: Path, tmp_path: Path, run_python: RunPython) -> None:
    """In NumPy; ``docs/understanding/how-it-works.md`` has the table."""
    (tmp_path / "talks.c").write_text(SOURCE)
    child = run_python(
        """
import numpy as np
from ffgrad.numpy import enzyme
f = enzyme("talks.c", "talks", "x[n] -> return")
x = np.ones(3)
f.grad(x)
for name, call in {
    "value": lambda: f(x),
    "grad": lambda: f.grad(x),
    "value_and_grad": lambda: f.value_and_grad(x),
    "vjp": lambda: f.vjp(x)[1](1.0),
    "jvp": lambda: f.jvp((x,), (x,)),
}.items():
    print(name, flush=True)
    call()
"""
    )
    lines = child.stdout.split()[1:]
    names = [line for line in lines if line != "called"]
    starts = [lines.index(name) for name in names]
    ends = [*starts[1:], len(lines)]
    counts = {name: end - start - 1 for name, start, end in zip(names, starts, ends, strict=True)}
    assert counts == {"value": 1, "grad": 1, "value_and_grad": 2, "vjp": 2, "jvp": 2}
