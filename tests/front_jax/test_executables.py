"""The handler inside XLA: errors at run time, several devices, the compilation cache, executables that outlive Python objects."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import ffgrad
import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from programs import CUBE, SCALED, SCALED_SIGNATURE, THROWING
from support.fixtures import Compile, RunPython, Write

X = jnp.array([1.0, -2.0, 3.0])
ROWS = PartitionSpec("d")


@pytest.fixture(scope="module")
def mesh() -> Mesh:
    """Four devices of the host."""
    return Mesh(np.array(jax.devices("cpu")[:4]), ("d",))


# --- errors -------------------------------------------------------------------------------------------


def test_misfits_are_found_while_tracing(compile_source: Compile) -> None:
    """With the parameter's name, as exceptions of ffgrad's."""
    f = compile_source(SCALED, "scaled", SCALED_SIGNATURE)
    call = jax.jit(f.apply)
    with pytest.raises(ffgrad.ShapeError, match="`n` is 3 in `x") as shape:
        call(X, jnp.ones(4), 1.0, 2)
    assert shape.value.argument == "w"
    with pytest.raises(ffgrad.DtypeError, match="`x` of `scaled` is `double\\*`"):
        call(X.astype(jnp.float32), X, 1.0, 2)
    with pytest.raises(ffgrad.DtypeError, match="`w` of `scaled` has an element type that no foreign parameter has"):
        call(X, X.astype(jnp.bfloat16), 1.0, 2)
    with pytest.raises(ffgrad.DtypeError, match="`power` of `scaled`"):
        call(X, X, 1.0, 2.5)
    with pytest.raises(ffgrad.DtypeError, match="`power` cannot hold 5000000000"):
        f(X, X, 1.0, 5_000_000_000)
    with pytest.raises(ffgrad.SignatureError, match="takes 4 inputs, 2 were given"):
        call(X, X)
    with pytest.raises(ffgrad.DtypeError, match="`w` must be an array or a number, not list"):
        f(X, [1.0], 1.0, 2)
    # JAX would name a function of ours.
    for odd in (np.array([1.0, None]), np.array(["a"]), np.zeros(3, [("a", "f8")]), np.zeros(3, np.longdouble)):
        with pytest.raises(
            ffgrad.DtypeError, match="`w` of `scaled` has an element type that no foreign parameter has"
        ):
            f(X, odd, 1.0, 2)
    with pytest.raises(ffgrad.ShapeError):
        jax.eval_shape(f.apply, X, jax.ShapeDtypeStruct((2,), jnp.float64), 1.0, 2)


def masked_and_swapped(x: np.ndarray) -> list[tuple[Any, str, str]]:
    """Return arrays that JAX takes for `x` after a call with it, with what ffgrad says of them."""
    return [
        (np.ma.masked_array(x, x > 1), "is a masked array, and the function would read what is masked too", "x.filled"),
        (x.astype(x.dtype.newbyteorder("S")), "has an element type that no foreign parameter has", "x.astype"),
    ]


@pytest.mark.parametrize("is_first", [True, False], ids=["first call", "later call"])
def test_masked_arrays_and_the_other_byte_order_are_refused(compile_source: Compile, is_first: bool) -> None:
    """JAX's fast path, which compares shape and type alone, computes with their bytes."""
    f = compile_source(SCALED, "scaled", SCALED_SIGNATURE)
    x, a, power = np.array([1.0, -2.0, 3.0]), np.asarray(1.5), np.asarray(2, np.int32)
    if not is_first:
        for _ in range(2):
            f(x, x, a, power)
    slope = jax.grad(lambda *inputs: f(*inputs).sum())
    calls: list[Callable[..., Any]] = [f, jax.jit(lambda *rest: f(wrong, *rest)), lambda *inputs: f(*inputs[:3], power)]
    for wrong, what, hint in masked_and_swapped(x):
        for call, inputs in zip(calls, ((wrong, x, a, power), (x, a, power), (wrong, x, a)), strict=True):
            with pytest.raises(ffgrad.DtypeError, match=f"`x` of `scaled` {what}") as caught:
                call(*inputs)
            assert caught.value.code == "dtype" and hint in caught.value.hints[0]
        with pytest.raises(ffgrad.DtypeError, match=f"`w` of `scaled` {what}"):
            f(jnp.asarray(x), wrong, 1.5, 2)
        with pytest.raises((TypeError, ValueError)):
            slope(wrong, x, a, power)
    for wrong, what, _ in masked_and_swapped(power.reshape(1)):
        with pytest.raises(ffgrad.DtypeError, match=f"`power` of `scaled` {what}"):
            f(x, x, a, wrong.reshape(()))
    np.testing.assert_allclose(f(x, x, a, power), 1.5 * x**4)


def test_64_bit_types_need_the_flag(run_python: RunPython, write: Write) -> None:
    """Without it JAX would have made float32 of everything: the error says which switch it is."""
    code = f"""
import jax, jax.numpy as jnp, numpy as np, ffgrad
from ffgrad.jax import enzyme
f = enzyme({str(write(CUBE))!r}, "cube")
for x in (jnp.ones(3), np.ones(3)):
    try:
        f(x)
    except ffgrad.DtypeError as error:
        assert "`x` of `cube` is float64" in str(error) and "jax_enable_x64" in str(error), error
    else:
        raise SystemExit("accepted")
g = enzyme({str(write(CUBE.replace("double", "float"), "g.c"))!r}, "cube")
assert g(jnp.full(3, 2.0)).dtype == jnp.float32
"""
    run_python(code, {"JAX_ENABLE_X64": "0"})


def test_an_exception_of_the_foreign_code_is_an_error_of_the_run(compile_source: Compile) -> None:
    """With its text, also from a batch, and the function works afterwards."""
    f = compile_source(THROWING, "root", "x[n] -> y[n]", name="f.cpp")
    with pytest.raises(jax.errors.JaxRuntimeError, match='`root` threw "negative input"'):
        jax.block_until_ready(jax.jit(f.apply)(X))
    with pytest.raises(jax.errors.JaxRuntimeError, match="at element 1 of the batch"):
        jax.block_until_ready(jax.vmap(f.apply)(jnp.stack([X**2, X])))
    np.testing.assert_allclose(f(X**2), X**4)


def test_what_cannot_be_differentiated_is_refused_before_it_runs(compile_source: Compile) -> None:
    """While the gradient is compiled; values are there all the same."""
    source = "void f(const double* x, int n, double* y) {\n"
    source += '  for (int i = 0; i < n; i++) __asm__ volatile("movsd %1, %%xmm0\\n movsd %%xmm0, %0" : "=m"(y[i]) : "m"(x[i]) : "xmm0");\n}\n'
    f = compile_source(source, "f", "x[n] -> y[n]")
    np.testing.assert_allclose(f(X), X)
    with pytest.raises(ffgrad.DifferentiationError, match="assembly"):
        jax.jit(jax.grad(lambda x: f(x).sum())).lower(X)


def test_a_doubtful_gradient_warns(compile_source: Compile) -> None:
    """A kink at the very point: the warning comes from a thread of XLA's and arrives in Python."""
    source = "#include <math.h>\nvoid f(const double* x, int n, double* y) { for (int i = 0; i < n; i++) y[i] = fabs(x[i]); }\n"
    f = compile_source(source, "f", "x[n] -> y[n]")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        jax.block_until_ready(jax.jit(jax.grad(lambda x: f(x).sum()))(jnp.zeros(3)))
    assert any(issubclass(w.category, ffgrad.GradientWarning) and "`f`" in str(w.message) for w in caught)


# --- several devices ----------------------------------------------------------------------------------


def test_each_shard_calls_its_own_piece(compile_source: Compile, mesh: Mesh) -> None:
    """In shard_map, with gradients of what is sharded and of what all devices share, and second derivatives."""
    f = compile_source(SCALED, "scaled", SCALED_SIGNATURE)
    lengths = "void length(const double* x, int n, double* y) { *y = n + 0 * x[0]; }\n"
    length = compile_source(lengths, "length", "x[n] -> y", name="length.c")
    x, w = jnp.linspace(0.5, 2.0, 8), jnp.array([1.0, 2.0])
    own = jax.shard_map(lambda x: length(x)[None], mesh=mesh, in_specs=ROWS, out_specs=ROWS)
    np.testing.assert_array_equal(jax.jit(own)(x), [2, 2, 2, 2])

    def foreign(x: jax.Array, w: jax.Array) -> jax.Array:
        local = lambda x, w: jax.lax.psum(f(x, w, 1.5, 3).sum(), "d")  # noqa: E731
        return jax.shard_map(local, mesh=mesh, in_specs=(ROWS, PartitionSpec()), out_specs=PartitionSpec())(x, w)

    def plain(x: jax.Array, w: jax.Array) -> jax.Array:
        return jnp.sum(1.5 * x**3 * jnp.tile(w, 4) ** 2)

    for transform in (jax.grad, jax.hessian):
        one, other = (jax.jit(transform(g, (0, 1)))(x, w) for g in (foreign, plain))
        for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)


def test_sharded_arrays_under_jit_are_gathered_never_misread(compile_source: Compile, mesh: Mesh) -> None:
    """A cumulative sum needs its whole input; of a batch every element is whole too."""
    source = (
        "void sums(const double* x, int n, double* y) { double s = 0; for (int i = 0; i < n; i++) y[i] = s += x[i]; }\n"
    )
    f = compile_source(source, "sums")
    xs = jnp.arange(32.0).reshape(4, 8)
    for spec in (PartitionSpec("d", None), PartitionSpec(None, "d")):
        sharded = jax.device_put(xs, NamedSharding(mesh, spec))
        np.testing.assert_array_equal(jax.jit(jax.vmap(f.apply))(sharded), np.cumsum(xs, axis=1))
        np.testing.assert_array_equal(f(sharded.reshape(-1)), np.cumsum(xs))


def test_calls_from_several_threads(compile_source: Compile) -> None:
    """One function, first used by all of them at once."""
    from concurrent.futures import ThreadPoolExecutor

    f = compile_source(CUBE, "cube")
    gradient = jax.jit(jax.grad(lambda x: f(x).sum()))
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda k: gradient(X * k), range(16)))
    for k, result in enumerate(results):
        np.testing.assert_allclose(result, 3 * (X * k) ** 2)


# --- executables --------------------------------------------------------------------------------------


def test_an_executable_outlives_the_python_object(compile_source: Compile) -> None:
    """The function stays open."""
    f = compile_source(CUBE, "cube")
    executable = jax.jit(f.apply).lower(X).compile()
    del f
    gc.collect()
    np.testing.assert_allclose(executable(X), X**3)


def test_an_edited_source_is_another_function(write: Write) -> None:
    """Executables made before the edit keep the code that they were made with."""
    from ffgrad.jax import enzyme

    path = write(CUBE)
    before = jax.jit(enzyme(path, "cube").apply)
    np.testing.assert_allclose(before(X), X**3)
    path.write_text(CUBE.replace("x[i] * x[i] * x[i]", "2 * x[i]"))
    np.testing.assert_allclose(jax.jit(enzyme(path, "cube").apply)(X), 2 * X)
    np.testing.assert_allclose(before(X), X**3)


RUN = """
import jax, jax.numpy as jnp
from ffgrad.jax import enzyme
events = []
jax.monitoring.register_event_listener(lambda name, **_: events.append(name))
f = enzyme({path!r}, "cube")
x = jnp.array([1.0, -2.0, 3.0])
print(jax.jit(jax.grad(lambda x: f(x).sum()))(x).tolist(), sum("cache_hits" in e for e in events))
"""


def test_the_compilation_cache_of_jax_serves_the_next_process(
    run_python: RunPython, write: Write, tmp_path: Path
) -> None:
    """And an edit of the source is a miss: the function's key is part of the program."""
    path = write(CUBE)
    environment = {
        "JAX_COMPILATION_CACHE_DIR": str(tmp_path / "jax-cache"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    }
    code = RUN.format(path=str(path))
    first, second = (run_python(code, environment).stdout.split("] ") for _ in range(2))
    assert first[0] == second[0] == "[3.0, 12.0, 27.0"
    assert int(second[1]) > int(first[1])
    path.write_text(CUBE.replace("* x[i] * x[i]", "* x[i]"))
    assert run_python(code, environment).stdout.startswith("[2.0, -4.0, 6.0]")


def test_an_operation_travels_to_other_processes(write: Write, tmp_path: Path) -> None:
    """By pickle, as pools, joblib, Dask and Ray send it; a copy is the operation itself."""
    code = f"""
import copy, multiprocessing, pickle
import jax, jax.numpy as jnp
from ffgrad.jax import enzyme

def slope(task):
    f, x = task
    jax.config.update("jax_enable_x64", True)
    return float(jax.grad(lambda x: f(x).sum())(jnp.full(2, x))[0])

if __name__ == "__main__":
    f = enzyme({str(write(CUBE))!r}, "cube")
    assert copy.deepcopy(f) is f and pickle.loads(pickle.dumps(f)).signature == f.signature
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        print(pool.map(slope, [(f, 1.0), (f, 2.0)]))
"""
    file = tmp_path / "pool.py"
    file.write_text(code)
    done = subprocess.run([sys.executable, file], capture_output=True, text=True, timeout=300)
    assert done.stdout.strip() == "[3.0, 12.0]", done.stderr


SAVE = """
import pickle, jax, jax.numpy as jnp
from jax.experimental.serialize_executable import serialize
from ffgrad.jax import enzyme
f = enzyme({path!r}, "cube")
compiled = jax.jit(f.apply).lower(jax.ShapeDtypeStruct((3,), jnp.float64)).compile()
pickle.dump(serialize(compiled), open("cube.bin", "wb"))
"""

LOAD = """
import json, pickle, jax, jax.numpy as jnp, ffgrad.jax
from jax.experimental.serialize_executable import deserialize_and_load
call = deserialize_and_load(*pickle.load(open("cube.bin", "rb")))
try:
    print(json.dumps(call(jnp.array([1.0, -2.0, 3.0])).tolist()))
except jax.errors.JaxRuntimeError as error:
    print(json.dumps(str(error)))
"""


def test_a_saved_executable_finds_its_sources_again(run_python: RunPython, write: Write) -> None:
    """In a process that never called enzyme; once the source has changed it refuses."""
    path = write(CUBE)
    run_python(SAVE.format(path=str(path)), {"XLA_FLAGS": ""})
    assert json.loads(run_python(LOAD, {"XLA_FLAGS": ""}).stdout) == [1.0, -8.0, 27.0]
    path.write_text(CUBE.replace("* x[i] * x[i]", "* x[i]"))
    assert "the executable was made from another version of `cube`" in json.loads(
        run_python(LOAD, {"XLA_FLAGS": ""}).stdout
    )


@pytest.mark.parametrize("platforms", [["cuda"], ["cpu", "cuda"], ["tpu"]], ids=",".join)
def test_compiling_for_another_device_is_refused_by_type(compile_source: Compile, platforms: list[str]) -> None:
    """Values and gradients, before anything is written; for the CPU alone both can be exported."""
    f = compile_source(CUBE, "cube")
    checks = [jax.export.DisabledSafetyCheck.custom_call("ffgrad")]
    for function in (f.apply, jax.grad(lambda x: f(x).sum())):
        with pytest.raises(ffgrad.DeviceError, match="`cube` is compiled for the CPU") as error:
            jax.export.export(jax.jit(function), platforms=platforms, disabled_checks=checks)(X)
        assert error.value.code == "device"
        exported = jax.export.export(jax.jit(function), platforms=["cpu"], disabled_checks=checks)(X)
        np.testing.assert_allclose(exported.call(X), function(X))


# --- symbolic sizes -----------------------------------------------------------------------------------

MATVEC = """
void matvec(const double* A, const double* x, int m, int n, double* y) {
  for (int i = 0; i < m; i++) { y[i] = 0; for (int j = 0; j < n; j++) y[i] += A[i * n + j] * x[j] * x[j]; }
}
"""


def exported(f: Callable[..., Any], *shapes: str, constraints: Sequence[str] = (), dtype: Any = float) -> Any:
    """Export a function of arrays whose sizes are symbols."""
    scope = jax.export.SymbolicScope(constraints)
    given = [jax.ShapeDtypeStruct(jax.export.symbolic_shape(shape, scope=scope), dtype) for shape in shapes]
    checks = [jax.export.DisabledSafetyCheck.custom_call("ffgrad")]
    return jax.export.export(jax.jit(f), disabled_checks=checks)(*given)


def test_a_program_is_exported_for_all_sizes(compile_source: Compile) -> None:
    """Values, both modes, second derivatives and maps; one program for several sizes."""
    f = compile_source(MATVEC, "matvec", "A[m,n], x[n] -> y[m]")

    def total(a: Any, x: Any) -> Any:
        return (f(a, x) ** 2).sum()

    functions = {
        "value": f.apply,
        "reverse": jax.grad(total, (0, 1)),
        "forward": lambda a, x: jax.jvp(f.apply, (a, x), (a, x)),
        "second": jax.hessian(total, 1),
    }
    for function in functions.values():
        program = exported(function, "m, n", "n")
        for m, n in ((2, 3), (4, 1)):
            a, x = jnp.arange(1.0, m * n + 1).reshape(m, n), jnp.linspace(-1, 1, n)
            jax.tree.map(np.testing.assert_allclose, program.call(a, x), function(a, x))
    a, xs = jnp.arange(6.0).reshape(2, 3), jnp.ones((5, 3))
    mapped = jax.vmap(functions["reverse"], (None, 0))
    jax.tree.map(np.testing.assert_allclose, exported(mapped, "m, n", "b, n").call(a, xs), mapped(a, xs))
    assert exported(f.apply, "m, 2*k", "2*k").call(jnp.ones((1, 4)), jnp.ones(4)).tolist() == [4]


def test_sizes_that_may_differ_are_refused_with_the_way_to_say_that_they_do_not(compile_source: Compile) -> None:
    f = compile_source(MATVEC, "matvec", "A[m,n], x[n] -> y[m]")
    with pytest.raises(ffgrad.ShapeError) as caught:
        exported(f.apply, "m, n", "k")
    assert str(caught.value) == (
        "dimension 0, `n`, of `x` of `matvec` is k, expected n\n"
        '  Its signature is "A[m,n], x[n] -> y[m]".\n'
        "  Sizes that the signature makes equal must be one symbol, or be constrained: "
        'jax.export.symbolic_shape("a, b", constraints=["a == b"]).'
    )
    program = exported(f.apply, "m, n", "k", constraints=["k == n"])
    assert program.call(jnp.ones((2, 3)), jnp.ones(3)).tolist() == [3, 3]
    with pytest.raises(ffgrad.DtypeError, match="`A` of `matvec`: expected float64, found float32"):
        exported(f.apply, "m, n", "n", dtype=jnp.float32)
    with pytest.raises(ffgrad.ShapeError, match=r"`x` of `matvec` has the shape \[n, n\]"):
        exported(f.apply, "m, n", "n, n")


def test_inputs_are_given_by_name(compile_source: Compile) -> None:
    """In any order; derivatives are of what JAX is given by position."""
    f = compile_source(MATVEC, "matvec", "A[m,n], x[n] -> y[m]")
    a, x = jnp.ones((2, 3)), jnp.ones(3)
    assert f(x=x, A=a).tolist() == f(a, x=x).tolist() == [3, 3]
    assert jax.jit(jax.grad(lambda x: f(x=x, A=a).sum()))(x).tolist() == [4, 4, 4]
    with pytest.raises(ffgrad.SignatureError, match="there is no input `B`; `A` is missing"):
        f(x=x, B=a)


def test_how_often_a_function_runs_is_as_documented(run_python: RunPython, write: Write) -> None:
    """Once for a gradient alone, twice with its value: ``docs/understanding/how-it-works.md`` has the table."""
    text = '#include <stdio.h>\ndouble square(double x) { printf("called\\n"); fflush(stdout); return x * x; }\n'
    code = f"""
import jax
from ffgrad.jax import enzyme
f = enzyme({str(write(text))!r}, "square")
calls = [jax.jit(f), jax.jit(jax.grad(f)), jax.jit(jax.value_and_grad(f)), jax.value_and_grad(f)]
for number, call in enumerate(calls):
    jax.block_until_ready(call(3.0))
    print(number, flush=True)
    jax.block_until_ready(call(3.0))
    print("end", flush=True)
"""
    parts = run_python(code).stdout.split("end")[:-1]
    # Behind the number: not the first call of each, which builds.
    assert [part.partition(str(i))[2].count("called") for i, part in enumerate(parts)] == [1, 1, 2, 2]
