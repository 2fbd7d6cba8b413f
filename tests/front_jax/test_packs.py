"""Packs in JAX: built here, called, differentiated and jitted in a process without tools and cache."""

from __future__ import annotations

from pathlib import Path

import ffgrad
from ffgrad.jax import enzyme
from support.fixtures import RunPython, Write

CUBE = "void cube(const double* x, int n, double* y) { for (int i = 0; i < n; i++) y[i] = x[i] * x[i] * x[i]; }\n"


def test_a_pack_is_differentiated_under_jit_without_a_compiler(
    tmp_path: Path, write: Write, run_python: RunPython
) -> None:
    """First and second derivatives; what is not in the pack is named."""
    cube = enzyme(write(CUBE, "cube.c"), "cube")
    ffgrad.export(tmp_path / "model.zip", cube, "second")
    ffgrad.export(tmp_path / "less.zip", cube)
    child = run_python(
        """
import jax, jax.numpy as jnp
jax.config.update("jax_enable_x64", True)
from ffgrad.jax import enzyme
x = jnp.array([1.0, 2.0])
cube = enzyme("model.zip", "cube")
total = lambda x: cube(x).sum()
print(jax.jit(jax.grad(total))(x).tolist(), jax.jit(jax.hessian(total))(x).tolist())
less = enzyme("less.zip", "cube")
try:
    jax.jit(jax.hessian(lambda x: less(x).sum()))(x)
except Exception as error:
    print("has no second derivatives of `cube` by x" in str(error))
""",
        {"PATH": "", "HOME": "/nonexistent", "FFGRAD_CACHE_DIR": "/proc/none", "FFGRAD_TOOLS_DIR": "/none"},
    )
    assert child.stdout.splitlines() == ["[3.0, 12.0] [[6.0, 0.0], [0.0, 12.0]]", "True"]
