"""Arguments of ``enzyme`` that are of the wrong kind: refused by name, with what they take, before anything is opened."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ffgrad
import numpy as np
import pytest
from ffgrad.numpy import enzyme
from support.fixtures import Write
from support.programs import CUBE

CPP = "template <class T, int N> T power(T x) { T y = 1; for (int i = 0; i < N; i++) y *= x; return y; }\nint powers(int n) { return n; }\n"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"source": None}, "enzyme(): `source` is None; it takes the path of a source file"),
        ({"source": ""}, "`source` is ''; it takes the path of a source file"),
        ({"source": 3}, "`source` is 3; it takes the path"),
        ({"source": b"f.c"}, "`source` is b'f.c'; it takes the path"),
        ({"source": ["f.c", None]}, "`source` is ['f.c', None]; it takes the path"),
        ({"function": None}, "`function` is None; it takes the name of a function as text"),
        ({"function": 3}, "`function` is 3; it takes the name"),
        ({"function": "a\udcff"}, "`function` is 'a\\udcff'; it takes the name"),
        ({"signature": b"x[n] -> y[n]"}, "`signature` is b'x[n] -> y[n]'; it takes a text"),
        ({"signature": ["x[n] -> y[n]"]}, "`signature` is ['x[n] -> y[n]']; it takes a text"),
        ({"defines": ["A"]}, '`defines` is ["A"]; it takes a dict of macros'),
        ({"defines": "A"}, '`defines` is "A"; it takes a dict of macros'),
        ({"defines": {"A": [1]}}, "`defines` is {'A': [1]}; it takes a dict of macros"),
        ({"include_dirs": "inc"}, '`include_dirs` is "inc"; it takes a list of texts'),
        ({"include_dirs": 3}, "`include_dirs` is 3; it takes a list of texts"),
        ({"flags": [b"-O2"]}, "`flags` is [b'-O2']; it takes a list of texts"),
        ({"timeout": 0}, "`timeout` is 0; it takes a whole number of seconds, 1 or more"),
        ({"timeout": float("nan")}, "`timeout` is nan; it takes a whole number of seconds"),
        ({"timeout": 1j}, "`timeout` is 1j; it takes a whole number of seconds"),
        ({"nonesuch": object()}, "`nonesuch` is <object"),
        ({"verfy": "off"}, "there is no option `verfy`: did you mean `verify`?"),
        ({"extra_compile_args": ["-O2"]}, "there is no option `extra_compile_args`: did you mean `flags`?"),
    ],
)
@pytest.mark.parametrize("front", ["numpy", "torch"])
def test_the_argument_is_named_with_what_it_takes(front: str, given: dict[str, Any], told: str, write: Write) -> None:
    """As an ``ArgumentError``, which is a ``TypeError`` too: in every front end the same."""
    module = pytest.importorskip(f"ffgrad.{front}")
    arguments = {"source": write(CUBE), "function": "cube", "signature": None, **given}
    with pytest.raises(ffgrad.ArgumentError) as caught:
        module.enzyme(**arguments)
    assert told in str(caught.value), str(caught.value)
    assert isinstance(caught.value, TypeError) and caught.value.code == "argument"


def test_arguments_of_the_relatives_are_checked_too(write: Write, tmp_path: Path) -> None:
    """``argnums``, and what ``export`` and ``implicit`` take."""
    cube = enzyme(write("double square(double x) { return x * x; }\n"), "square")
    for odd in (0.5, None, True, [0.5]):
        with pytest.raises(ffgrad.SignatureError, match="which is no input's position or name"):
            cube.grad(1.0, argnums=odd)
    for call, told in [
        (lambda: ffgrad.export(None, cube), "`path` is None"),
        (lambda: ffgrad.export(tmp_path / "p", cube, derivatives=None), "`derivatives` is None"),
        (lambda: ffgrad.export(tmp_path / "p", cube, derivatives="third"), "`third` is no set of derivatives"),
        (lambda: ffgrad.export(tmp_path / "p", 3), "not int"),
        (lambda: ffgrad.implicit("f", kind="rot"), "there is no kind 'rot'"),
        (lambda: ffgrad.implicit(None), "`function` is None"),
        (lambda: ffgrad.toolchain.install("nonsense"), "`what` is 'nonsense'; it takes \"blas\""),
        (lambda: ffgrad.toolchain.install(source=3), "`source` is 3"),
    ]:
        with pytest.raises(ffgrad.ArgumentError, match=told):
            call()


def test_an_empty_name_lists_the_functions(write: Write) -> None:
    """As the command does."""
    with pytest.raises(ffgrad.CompileError, match=r"no function of .*f\.c is named\n  It defines: `cube`\."):
        enzyme(write(CUBE), "")


def test_a_template_without_an_instance_is_said_to_be_one(write: Write) -> None:
    """Also where the source has functions, one of them of a name that is close; not where the name is another."""
    source = write(CPP, "p.cpp")
    with pytest.raises(ffgrad.CompileError, match=r"`power` is a template there.*`power<double>`"):
        enzyme(source, "power")
    with pytest.raises(ffgrad.CompileError, match="The closest names are `powers"):
        enzyme(source, "powerss")
    assert enzyme(source, "power<double, 3>").grad(2.0) == 12.0


def test_a_variable_number_of_arguments_is_named(write: Write) -> None:
    """It is no structure by value; and a function without a prototype has no parameters."""
    source = write("double sum(int n, ...) { return n; }\ndouble none() { return 3; }\n")
    with pytest.raises(ffgrad.CompileError, match=r"`sum` has a variable number of arguments \(`\.\.\.`\)") as caught:
        enzyme(source, "sum")
    assert "struct" not in str(caught.value) and "worker" not in str(caught.value)
    assert enzyme(source, "none")() == 3.0


def test_a_field_of_records_is_said_to_lie_wrong(write: Write) -> None:
    """Its element type is right."""
    cube = enzyme(write(CUBE), "cube")
    records = np.zeros(4, dtype=[("kind", "i1"), ("x", "f8")])
    with pytest.raises(ffgrad.DeviceError) as caught:
        cube(records["x"])
    text = str(caught.value)
    assert "`x` do not lie as those of an array do" in text and "strides (9,)" in text and "ascontiguousarray" in text
    assert cube(np.ascontiguousarray(records["x"])).tolist() == [0.0] * 4
    with pytest.raises(ffgrad.DtypeError, match="no foreign parameter has"):
        cube(records)


@pytest.mark.parametrize(
    ("inputs", "told"), [((), "takes 1 input, 0 were given"), ((1.0, 2.0), "takes 1 input, 2 were given")]
)
def test_one_is_one(inputs: tuple[float, ...], told: str, write: Write) -> None:
    """And not several."""
    with pytest.raises(ffgrad.SignatureError, match=told):
        enzyme(write("double f(double x) { return x; }\n"), "f")(*inputs)


def test_a_loop_of_another_function_is_not_checkpointed(write: Write) -> None:
    """A place of the option counts in the function and in what it calls, also through a table."""
    source = write(
        "static double inner(const double* x, int n) {\n"
        "  double s = 0;\n"
        "  for (int i = 0; i < n; i++) s += x[i] * x[i];\n"
        "  return s;\n"
        "}\n"
        "double own(const double* x, int n) { return inner(x, n); }\n"
        "double other(const double* x, int n) {\n"
        "  double s = 0;\n"
        "  for (int i = 0; i < n; i++) s += x[i];\n"
        "  return s;\n"
        "}\n"
        "static double (*const table[])(const double*, int) = {inner, other};\n"
        "double through(const double* x, int n, int k) { return table[k](x, n); }\n"
    )
    alone = write(source.read_text().split("static double (*const")[0], "alone.c")
    assert enzyme(alone, "own", "x[n] -> return", checkpoint={"alone.c:3": 2}).signature == "x[n] -> return"
    with pytest.raises(
        ffgrad.DifferentiationError, match="the loop at alone.c:9 is in `other`, which `own` does not call"
    ):
        enzyme(alone, "own", "x[n] -> return", checkpoint={"alone.c:9": 2})
    assert "x[n]" in enzyme(source, "through", "x[n], k -> return", checkpoint={"f.c:9": 2}).signature


def test_a_dimension_that_is_too_small_is_thought_of(write: Write) -> None:
    """Before any gradient."""
    source = write(
        "double f(const double* x, int n) { double s = 0; for (int i = 0; i < 5; i++) s += x[i] * x[i]; return s; }\n"
    )
    f = enzyme(source, "f", "x[n] -> return")
    with pytest.raises(ffgrad.SignatureError, match="outside of `x`, which has 2 elements in this call"):
        f.grad(np.array([0.5, 0.25]))
