"""TensorFlow's runtimes: data pipelines, threads, XLA, saved graphs; and copies of memory."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from ffgrad.tf import enzyme
from programs import CUBE, MATVEC, MATVEC_SIGNATURE
from support.fixtures import Compile, RunPython, Write

# Stores the address of its input.
WHERE = """\
#include <stdint.h>
void where(const double* x, int n, double* y, unsigned long long* address) {
  for (int i = 0; i < n; i++) y[i] = x[i] * x[i];
  *address = (unsigned long long)(uintptr_t)x;
}
"""


def address(tensor: tf.Tensor) -> int:
    """Return a tensor's address."""
    return np.asarray(memoryview(tensor)).ctypes.data


def test_the_foreign_code_reads_tensorflows_own_memory(compile_source: Compile) -> None:
    """Without a tape and with one."""
    where = compile_source(WHERE, "where", "x[n] -> y[n], address[1]")
    x = tf.random.normal([64], dtype=tf.float64)
    assert int(where(x)[1][0]) == address(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        _, seen = where(x)
    assert int(seen[0]) == address(x)


def test_two_functions_in_one_graph(compile_source: Compile) -> None:
    """From two sources, each with its own derivatives."""
    cube = compile_source(CUBE, "cube", name="cube.c")
    matvec = compile_source(MATVEC, "matvec", MATVEC_SIGNATURE, name="matvec.c")
    a = tf.random.normal([3, 3], dtype=tf.float64)
    x = tf.random.normal([3], dtype=tf.float64)

    @tf.function
    def both(x: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y, _ = matvec(a, cube(x))
        return tape.gradient(y, x)

    expected = tf.reduce_sum(a, axis=0) * 2 * x**3 * 3 * x**2
    np.testing.assert_allclose(both(x), expected)


def test_the_same_name_in_two_files_is_two_functions(compile_source: Compile) -> None:
    """Neither shadows the other."""
    one = compile_source(CUBE, "cube", name="one.c")
    two = compile_source(CUBE.replace("x[i] * x[i] * x[i]", "2 * x[i]"), "cube", name="two.c")
    x = tf.constant([3.0], tf.float64)
    assert [float(one(x)[0]), float(two(x)[0])] == [27.0, 6.0]


def test_an_edited_source_is_another_function(write: Write) -> None:
    """Also where the old one has not been called yet."""
    x = tf.constant([3.0], tf.float64)
    old = enzyme(write(CUBE), "cube")
    new = enzyme(write(CUBE.replace("x[i] * x[i] * x[i]", "2 * x[i]")), "cube")
    assert [float(new(x)[0]), float(old(x)[0])] == [6.0, 27.0]


def test_many_threads_call_and_differentiate_at_once(compile_source: Compile) -> None:
    """From the first call on, when the derivative is built."""
    cube = compile_source(CUBE, "cube")
    start = threading.Barrier(16)
    failures: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            x = tf.constant(np.random.default_rng(seed).standard_normal(100))
            start.wait()
            for _ in range(20):
                with tf.GradientTape() as tape:
                    tape.watch(x)
                    y = cube(x)
                np.testing.assert_allclose(y, x**3)
                np.testing.assert_allclose(tape.gradient(y, x), 3 * x**2)
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_data_pipeline_maps_it_in_parallel(compile_source: Compile) -> None:
    """With a shape known but for the batch."""
    cube = compile_source(CUBE, "cube")
    values = np.random.default_rng(0).standard_normal([100, 3])
    data = tf.data.Dataset.from_tensor_slices(values).map(cube.apply, num_parallel_calls=4).batch(8)
    assert data.element_spec.shape.as_list() == [None, 3]
    np.testing.assert_allclose(np.concatenate(list(data.as_numpy_iterator())), values**3)


def test_independent_calls_in_a_graph_run_side_by_side(compile_source: Compile) -> None:
    """TensorFlow's own threads; results stay apart."""
    cube = compile_source(CUBE, "cube")

    @tf.function
    def many(xs: list[tf.Tensor]) -> list[tf.Tensor]:
        return [cube(x) for x in xs]

    xs = [tf.random.normal([1000], dtype=tf.float64) for _ in range(32)]
    for _ in range(5):
        for x, y in zip(xs, many(xs), strict=True):
            np.testing.assert_allclose(y, x**3)


def test_xla_refuses_clearly(compile_source: Compile) -> None:
    """It names the operation, which has no XLA kernel."""
    cube = compile_source(CUBE, "cube")
    with pytest.raises(tf.errors.InvalidArgumentError, match="FfgradPrimalV1") as caught:
        tf.function(cube.apply, jit_compile=True)(tf.constant([1.0], tf.float64))
    assert "unsupported operations" in str(caught.value) or "No registered" in str(caught.value)


class Saved(tf.Module):
    """A variable and a function of it."""

    def __init__(self, source: Path) -> None:
        super().__init__()
        self.scale = tf.Variable(2.0, dtype=tf.float64)
        self._cube = enzyme(source, "cube")

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float64)])
    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        """Return (scale x)^3."""
        return self._cube(self.scale * x)


def test_a_saved_model_runs_and_trains_in_another_process(write: Write, tmp_path: Path, run_python: RunPython) -> None:
    """It names the source by path; everything else is in the graph."""
    module = Saved(write(CUBE, "cube.c"))
    x = tf.constant([1.0, 2.0], tf.float64)
    np.testing.assert_allclose(module(x), [8, 64])
    tf.saved_model.save(module, str(tmp_path / "saved"))
    os.chdir("/")
    done = run_python(
        "import tensorflow as tf\n"
        "import ffgrad.tf\n"
        "module = tf.saved_model.load('saved')\n"
        "x = tf.constant([1.0, 2.0], tf.float64)\n"
        "with tf.GradientTape() as tape:\n"
        "    tape.watch(x)\n"
        "    y = module(x)\n"
        "gradients = tape.gradient(y, [x, module.scale])\n"
        "print(y.numpy().tolist(), gradients[0].numpy().tolist(), float(gradients[1]))\n"
    )
    assert done.stdout.strip() == "[8.0, 64.0] [24.0, 96.0] 108.0"
