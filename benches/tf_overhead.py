"""What a call costs in TensorFlow: ffgrad beside tf.numpy_function and an operation written by hand in C++.

All compute x * sin(x) for 16 floats, so that what is measured is the call itself. Rows are implementations,
columns are microseconds for: a call in eager mode; a call and its gradient by a tape, eagerly; a call in a loop within
one graph. Best of several repeats; `make bench`, or `.venv-tf/bin/python benches/tf_overhead.py [--json FILE]`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import tempfile
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
from ffgrad.tf import enzyme

N = 16
LOOP = 1000

SOURCE = """\
#include <math.h>
#include <stddef.h>
void f(float* inp, size_t n, float* out) {
  for (size_t i = 0; i < n; i++) out[i] = inp[i] * sinf(inp[i]);
}
"""

# What one writes by hand: an operation and its gradient.
OPERATION = """\
#include <cmath>
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
using namespace tensorflow;
static Status same_shape(shape_inference::InferenceContext* c) { c->set_output(0, c->input(0)); return Status(); }
REGISTER_OP("BenchXsinx").Input("x: float").Output("y: float").SetShapeFn(same_shape);
REGISTER_OP("BenchXsinxGrad").Input("x: float").Input("v: float").Output("g: float").SetShapeFn(same_shape);
struct Forward : OpKernel {
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* c) override {
    const Tensor& x = c->input(0);
    Tensor* y = nullptr;
    OP_REQUIRES_OK(c, c->allocate_output(0, x.shape(), &y));
    auto a = x.flat<float>();
    auto b = y->flat<float>();
    for (int64_t i = 0; i < a.size(); i++) b(i) = a(i) * sinf(a(i));
  }
};
struct Backward : OpKernel {
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* c) override {
    const Tensor& x = c->input(0);
    Tensor* g = nullptr;
    OP_REQUIRES_OK(c, c->allocate_output(0, x.shape(), &g));
    auto a = x.flat<float>();
    auto v = c->input(1).flat<float>();
    auto b = g->flat<float>();
    for (int64_t i = 0; i < a.size(); i++) b(i) = v(i) * (sinf(a(i)) + a(i) * cosf(a(i)));
  }
};
REGISTER_KERNEL_BUILDER(Name("BenchXsinx").Device(DEVICE_CPU), Forward);
REGISTER_KERNEL_BUILDER(Name("BenchXsinxGrad").Device(DEVICE_CPU), Backward);
"""

Function = Callable[[tf.Tensor], tf.Tensor]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path, help="write the figures to this file too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        implementations = {"TensorFlow's own operations": own, "ffgrad": foreign(Path(folder))}
        implementations["tf.numpy_function"] = by_numpy
        by_hand = compiled(Path(folder))
        if callable(by_hand):
            implementations["C++ operation by hand"] = by_hand
        else:
            print(f"C++ operation by hand: skipped, {by_hand}")
        figures = {name: measured(f) for name, f in implementations.items()}
    print(f"{f'microseconds a call, n = {N}':30s} {'eager':>8s} {'eager + gradient':>18s} {'in a graph':>12s}")
    for name, row in figures.items():
        print(f"{name:30s} {row['eager']:8.1f} {row['gradient']:18.1f} {row['graph']:12.1f}")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")


def measured(f: Function) -> dict[str, float]:
    """Check the gradient, then measure."""
    x = tf.random.stateless_normal([N], seed=[1, 2])

    def gradient() -> tf.Tensor:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)

    @tf.function
    def loop() -> tf.Tensor:
        y = x
        for _ in tf.range(LOOP):
            y = f(y)
        return y

    np.testing.assert_allclose(gradient(), tf.sin(x) + x * tf.cos(x), rtol=1e-5, atol=1e-6)
    return {"eager": best(lambda: f(x)), "gradient": best(gradient), "graph": best(loop) / LOOP}


def best(call: Callable[[], Any]) -> float:
    """Return the microseconds that a call takes when nothing disturbs it."""
    timer = timeit.Timer(call)
    timer.timeit(20)
    count = max(1, int(0.05 / (timer.timeit(5) / 5)))
    return min(timer.repeat(15, count)) / count * 1e6


def own(x: tf.Tensor) -> tf.Tensor:
    """Two operations."""
    return x * tf.sin(x)


def foreign(folder: Path) -> Function:
    """Return the C function through ffgrad."""
    (folder / "f.c").write_text(SOURCE)
    return enzyme(folder / "f.c", "f").apply


@tf.custom_gradient
def by_numpy(x: tf.Tensor) -> Any:
    """Python called back from TensorFlow."""
    y = tf.numpy_function(lambda a: a * np.sin(a), [x], tf.float32)
    y.set_shape(x.shape)

    def gradient(v: tf.Tensor) -> tf.Tensor:
        return tf.numpy_function(lambda a, b: b * (np.sin(a) + a * np.cos(a)), [x, v], tf.float32)

    return y, gradient


def compiled(folder: Path) -> Function | str:
    """Return the operation written by hand, or the reason why there is none."""
    compiler = shutil.which("g++")
    if compiler is None:
        return "no g++ on PATH"
    (folder / "op.cc").write_text(OPERATION)
    library = folder / "op.so"
    command = [compiler, "-std=c++17", "-O2", "-shared", "-fPIC", str(folder / "op.cc"), "-o", str(library)]
    command += [*tf.sysconfig.get_compile_flags(), *tf.sysconfig.get_link_flags()]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return "g++ failed: " + (done.stderr.strip().splitlines() or ["?"])[0]
    operations = tf.load_op_library(str(library))
    tf.RegisterGradient("BenchXsinx")(lambda op, v: operations.bench_xsinx_grad(op.inputs[0], v))
    return operations.bench_xsinx


if __name__ == "__main__":
    main()
