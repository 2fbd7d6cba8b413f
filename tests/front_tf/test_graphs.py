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


def test_what_xla_would_compile_is_refused_with_the_way_out(compile_source: Compile) -> None:
    """Directly, in a gradient, and in a function that the compiled one calls."""
    cube = compile_source(CUBE, "cube")
    x = tf.constant([1.0], tf.float64)
    inner = tf.function(lambda x: cube(x) + 1)
    for f in (cube.apply, lambda x: tf.reduce_sum(cube(2 * x)), inner):
        with pytest.raises(tf.errors.UnimplementedError) as caught:
            tf.function(f, jit_compile=True)(x)
        text = (
            "`cube` cannot be part of a function that XLA compiles (jit_compile=True): it is machine code already\n"
            "  Leave jit_compile out (in Keras: compile(jit_compile=False)), call `cube` outside of that function, or use ffgrad.jax, where XLA calls foreign functions."
        )
        # Where AutoGraph has translated the caller, its lines stand around the text.
        assert text.splitlines()[0] in caught.value.message and text.splitlines()[1] in caught.value.message
    # Around it XLA may compile what it can.
    scaled = tf.function(lambda x: 2 * x, jit_compile=True)
    np.testing.assert_allclose(tf.function(lambda x: scaled(cube(scaled(x))))(x), [16.0])


MIRRORED = """
import numpy as np
import tensorflow as tf

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
)
from ffgrad.tf import EnzymeLayer, enzyme

cube = enzyme("cube.c", "cube", "x[...,n] -> y[...,n]")
strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
with strategy.scope():
    v = tf.Variable([1.0, 2.0], dtype=tf.float64)


@tf.function
def step(x):
    def replica(x):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(cube(x[:, None] * v))
        return tape.gradient(y, v)

    return strategy.reduce("SUM", strategy.run(replica, args=(x,)), axis=None)


x = np.arange(1.0, 9.0)
batches = strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices(x).batch(4))
total = sum(step(batch).numpy() for batch in batches)
np.testing.assert_allclose(total, 3 * np.array([1.0, 4.0]) * (x**3).sum())

with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(3), EnzymeLayer("cube.c", "cube", "x[...,n] -> y[...,n]")])
    model.compile("sgd", "mse")
before = model.predict(np.ones((4, 2)), verbose=0)
model.fit(np.ones((16, 2)), np.zeros((16, 3)), epochs=2, verbose=0)
print(strategy.num_replicas_in_sync, np.abs(model.predict(np.ones((4, 2)), verbose=0)).sum() < np.abs(before).sum())
"""


def test_a_mirrored_strategy_calls_and_differentiates_on_every_device(write: Write, run_python: RunPython) -> None:
    """Two devices of the host; gradients are summed over them."""
    write(CUBE, "cube.c")
    assert run_python(MIRRORED).stdout.split() == ["2", "True"]


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
