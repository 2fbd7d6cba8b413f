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
