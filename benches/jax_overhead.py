"""What a call costs in JAX: ffgrad beside plain JAX, an FFI call written by hand in C++, and Enzyme-JAX.

All compute x * sin(x) in single precision. Rows are implementations; columns are microseconds for n = 16 (there and back): a
call of a jitted function, its value and gradient, a call within one compiled loop; and for a million elements: value, value and
gradient. Best of several repeats, 1 thread where an implementation has a choice; `make bench-jax`, or
`scripts/bench_jax.sh [--json FILE]`, which installs Enzyme-JAX for comparison.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import shutil
import subprocess
import tempfile
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Compared are calls, not thread pools.
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_cpu_multi_thread_eigen=false"

import jax
import jax.numpy as jnp
import numpy as np
from ffgrad.jax import enzyme

SMALL, LARGE, LOOP = 16, 1_000_000, 1000

SOURCE = """\
#include <math.h>
#include <stddef.h>
void f(float* inp, size_t n, float* out) {
  for (size_t i = 0; i < n; i++) out[i] = inp[i] * sinf(inp[i]);
}
"""

# What one writes by hand: two handlers, joined by jax.custom_vjp below.
HANDLERS = """\
#include <cmath>
#include "xla/ffi/api/ffi.h"
namespace ffi = xla::ffi;
using Buffer = ffi::Buffer<ffi::F32>;
static ffi::Error forward(Buffer x, ffi::ResultBuffer<ffi::F32> y) {
  for (size_t i = 0; i < x.element_count(); i++) y->typed_data()[i] = x.typed_data()[i] * sinf(x.typed_data()[i]);
  return ffi::Error::Success();
}
static ffi::Error backward(Buffer x, Buffer v, ffi::ResultBuffer<ffi::F32> g) {
  for (size_t i = 0; i < x.element_count(); i++) {
    float a = x.typed_data()[i];
    g->typed_data()[i] = v.typed_data()[i] * (sinf(a) + a * cosf(a));
  }
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(Forward, forward, ffi::Ffi::Bind().Arg<Buffer>().Ret<Buffer>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(Backward, backward, ffi::Ffi::Bind().Arg<Buffer>().Arg<Buffer>().Ret<Buffer>());
"""

# Enzyme-JAX takes a template whose arrays know their sizes.
TEMPLATE = """\
template <std::size_t N>
void f(enzyme::tensor<float, N>& out0, const enzyme::tensor<float, N>& in0) {
  for (std::size_t i = 0; i < N; i++) out0[i] = in0[i] * __builtin_sinf(in0[i]);
}
"""

Function = Callable[[jax.Array], jax.Array]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path, help="write the figures to this file too")
    options = parser.parse_args()
    figures: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, build in {
            "JAX": own,
            "ffgrad": foreign,
            "FFI by hand (C++)": by_hand,
            "Enzyme-JAX": enzyme_jax,
        }.items():
            try:
                figures[name] = measured(build(Path(folder)))
            except Exception as error:
                print(f"{name}: skipped, {(str(error).splitlines() or [type(error).__name__])[0]}")
    columns = ["call", "gradient", "in a loop", "call, 1e6", "gradient, 1e6"]
    print(f"{'microseconds':20s}" + "".join(f"{column:>15s}" for column in columns))
    for name, row in figures.items():
        print(f"{name:20s}" + "".join(f"{row[column]:15.1f}" for column in columns))
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")


def measured(f: Function) -> dict[str, float]:
    """Check value and gradient, then measure."""
    small = jnp.linspace(-2.0, 2.0, SMALL, dtype=jnp.float32)
    large = jnp.linspace(-2.0, 2.0, LARGE, dtype=jnp.float32)
    call = jax.jit(f)
    gradient = jax.jit(lambda x, v: (lambda y, pull: (y, pull(v)[0]))(*jax.vjp(f, x)))
    loop = jax.jit(lambda x: jax.lax.fori_loop(0, LOOP, lambda _, y: f(y), x))
    np.testing.assert_allclose(call(small), small * jnp.sin(small), rtol=1e-5, atol=1e-6)
    exact = jnp.sin(small) + small * jnp.cos(small)
    np.testing.assert_allclose(gradient(small, jnp.ones(SMALL))[1], exact, rtol=1e-5, atol=1e-6)
    ones, many = jnp.ones(SMALL, jnp.float32), jnp.ones(LARGE, jnp.float32)
    return {
        "call": best(lambda: call(small)),
        "gradient": best(lambda: gradient(small, ones)),
        "in a loop": best(lambda: loop(small)) / LOOP,
        "call, 1e6": best(lambda: call(large)),
        "gradient, 1e6": best(lambda: gradient(large, many)),
    }


def best(call: Callable[[], Any]) -> float:
    """Return the microseconds that a call takes when nothing disturbs it."""
    timer = timeit.Timer(lambda: jax.block_until_ready(call()))
    timer.timeit(5)
    count = max(1, int(0.05 / (timer.timeit(5) / 5)))
    return min(timer.repeat(15, count)) / count * 1e6


def own(_: Path) -> Function:
    """Two operations, fused by XLA."""
    return lambda x: x * jnp.sin(x)


def foreign(folder: Path) -> Function:
    """Return the C function through ffgrad."""
    (folder / "f.c").write_text(SOURCE)
    return enzyme(folder / "f.c", "f").apply


def by_hand(folder: Path) -> Function:
    """Return the call through handlers written by hand."""
    compiler = shutil.which("g++")
    if compiler is None:
        raise RuntimeError("no g++ on PATH")
    (folder / "handlers.cc").write_text(HANDLERS)
    library = folder / "handlers.so"
    command = [compiler, "-std=c++17", "-O3", "-march=native", "-shared", "-fPIC", f"-I{jax.ffi.include_dir()}"]
    done = subprocess.run([*command, str(folder / "handlers.cc"), "-o", str(library)], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError("g++ failed: " + (done.stderr.strip().splitlines() or ["?"])[0])
    symbols = ctypes.CDLL(str(library))
    jax.ffi.register_ffi_target("bench_forward", jax.ffi.pycapsule(symbols.Forward), platform="cpu")
    jax.ffi.register_ffi_target("bench_backward", jax.ffi.pycapsule(symbols.Backward), platform="cpu")

    @jax.custom_vjp
    def f(x: jax.Array) -> jax.Array:
        return jax.ffi.ffi_call("bench_forward", jax.ShapeDtypeStruct(x.shape, x.dtype))(x)

    def pull(x: jax.Array, v: jax.Array) -> tuple[jax.Array]:
        return (jax.ffi.ffi_call("bench_backward", jax.ShapeDtypeStruct(x.shape, x.dtype))(x, v),)

    f.defvjp(lambda x: (f(x), x), pull)
    return f


def enzyme_jax(_: Path) -> Function:
    """Return the same function through Enzyme-JAX's ``cpp_call``."""
    from enzyme_ad.jax import cpp_call

    def f(x: jax.Array) -> jax.Array:
        (y,) = cpp_call(x, out_shapes=[jax.core.ShapedArray(x.shape, x.dtype)], source=TEMPLATE, fn="f")
        return y

    return f


if __name__ == "__main__":
    main()
