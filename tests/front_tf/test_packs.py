"""Packs in TensorFlow: built here, differentiated in a graph in a process without tools and cache."""

from __future__ import annotations

from pathlib import Path

import ffgrad
from ffgrad.tf import enzyme
from support.fixtures import RunPython, Write

CUBE = "void cube(const double* x, int n, double* y) { for (int i = 0; i < n; i++) y[i] = x[i] * x[i] * x[i]; }\n"


def test_a_pack_is_differentiated_in_a_graph_without_a_compiler(
    tmp_path: Path, write: Write, run_python: RunPython
) -> None:
    """Through the operation library, which has a driver of its own."""
    ffgrad.export(tmp_path / "model.ffpack", enzyme(write(CUBE, "cube.c"), "cube"))
    child = run_python(
        """
import tensorflow as tf
from ffgrad.tf import enzyme
cube = enzyme("model.ffpack", "cube")
x = tf.constant([1.0, 2.0], tf.float64)

@tf.function
def gradient(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(cube(x))
    return tape.gradient(y, x)

print(gradient(x).numpy().tolist())
""",
        {"PATH": "", "HOME": "/nonexistent", "FFGRAD_CACHE_DIR": "/proc/none", "FFGRAD_TOOLS_DIR": "/none"},
    )
    assert child.stdout.splitlines()[-1] == "[3.0, 12.0]"
