"""What a message advises is of use: a language or standard that is not the default, and remedies that do not lead to the next error."""

from __future__ import annotations

import numpy as np
import pytest
from ffgrad.errors import CompileError, DifferentiationError, DtypeError, Error, SignatureError
from ffgrad.numpy import enzyme
from support.fixtures import Write

CPP_AS_C = {
    "a header": ("#include <vector>\ndouble f(double x) { return x; }\n", "`vector` is a header of C++"),
    "cmath": ("#include <cmath>\ndouble f(double x) { return std::sin(x); }\n", "`cmath` is a header of C++"),
    "using": ("using namespace std;\ndouble f(double x) { return x; }\n", "This is C++"),
    "a class": ("class A { double y; };\ndouble f(double x) { return x; }\n", "This is C++"),
}
NEWER = {
    "auto": ("c", "double f(double x) { auto y = x * x; return y; }\n", "-std=c23"),
    "bool": ("c", "double f(double x) { bool b = x > 1; return b ? x : x * x; }\n", "-std=c23"),
    "nullptr": ("c", "double f(double x) { double *p = nullptr; return p ? 1 : x * x; }\n", "-std=c23"),
    "constexpr": ("c", "double f(double x) { constexpr double k = 3; return k * x; }\n", "-std=c23"),
    "span": (
        "cpp",
        "#include <span>\ndouble f(double x) { std::span<double> s(&x, 1); return s[0] * s[0]; }\n",
        "-std=c++20",
    ),
    "numbers": ("cpp", "#include <numbers>\ndouble f(double x) { return x * std::numbers::pi; }\n", "-std=c++20"),
    "concepts": (
        "cpp",
        "template <class T> concept C = true;\ntemplate <C T> T g(T x) { return x * x; }\ndouble f(double x) { return g(x); }\n",
        "-std=c++20",
    ),
}
POINT = "typedef struct { double a, b; } P;\n"


@pytest.mark.parametrize("case", CPP_AS_C)
def test_cpp_in_a_file_of_c_is_to_have_another_name(write: Write, case: str) -> None:
    text, advice = CPP_AS_C[case]
    with pytest.raises(CompileError, match="name the file `.cpp`") as caught:
        enzyme(write(text, "f.c"), "f")
    assert advice in str(caught.value) and "include_dirs" not in str(caught.value)
    assert "language=c++" in str(caught.value)


@pytest.mark.parametrize("case", NEWER)
def test_a_newer_standard_is_named_and_does(write: Write, case: str) -> None:
    suffix, text, standard = NEWER[case]
    source = write(text, f"f.{suffix}")
    with pytest.raises(CompileError) as caught:
        enzyme(source, "f")
    assert f'flags=["{standard}"]' in str(caught.value), str(caught.value)
    assert np.isfinite(enzyme(source, "f", flags=[standard]).grad(2.0))


def test_a_function_without_a_body_is_not_to_be_marked(write: Write) -> None:
    """A mark would end in an error of the linker, unless a library has it."""
    source = write("double g(double);\ndouble f(double x) { return g(x); }\n")
    with pytest.raises(DifferentiationError, match="has no body") as caught:
        enzyme(source, "f").grad(1.0)
    assert "inactive=" not in str(caught.value) and 'libraries=["NAME"]' in str(caught.value)


def test_a_structure_that_is_returned_is_to_be_stored(write: Write) -> None:
    with pytest.raises(SignatureError, match="through pointers") as caught:
        enzyme(write(POINT + "P f(double x) { P p = {x, x * x}; return p; }\n"), "f")
    assert "without `return`" not in str(caught.value)
    both = write(POINT + "P f(const double *x, double *y, int n) { P p = {x[0], *y = x[n - 1]}; return p; }\n", "g.c")
    with pytest.raises(SignatureError, match="a signature without `return`"):
        enzyme(both, "f")


def test_an_array_of_structures_is_to_be_wrapped(write: Write) -> None:
    total = (
        "double f(const P *p, int n) { double s = 0; for (int i = 0; i < n; i++) s += p[i].a * p[i].b; return s; }\n"
    )
    with pytest.raises(SignatureError, match="casts the pointer: `double g") as caught:
        enzyme(write(POINT + total), "f")
    assert "is of one structure" in str(caught.value)
    wrapped = write(POINT + total + "double g(const double *p, int n) { return f((const P *)p, n); }\n", "g.c")
    assert np.allclose(
        enzyme(wrapped, "g", "p[n,2] -> return").grad(np.array([[1.0, 2.0], [3.0, 4.0]])), [[2, 1], [4, 3]]
    )


def test_a_complex_parameter_is_called_so(write: Write) -> None:
    with pytest.raises(Error, match="complex number"):
        enzyme(write("#include <complex.h>\ndouble f(double _Complex z) { return creal(z); }\n"), "f")


def test_a_branch_for_one_value_of_numbers_is_no_matter_of_arrays(write: Write) -> None:
    source = write("""
#include <math.h>
double f(double g, double v0, double c, double t) {
  if (c == 0) return v0 * t - .5 * g * t * t;
  return (v0 + g / c) / c * (1 - exp(-c * t)) - g * t / c;
}
""")
    with pytest.raises(DifferentiationError) as caught:
        enzyme(source, "f", "g, v0, c, t -> return").grad(9.0, 5.0, 0.0, 1.0, argnums="c")
    text = str(caught.value)
    assert "for equality" in text and "dimension" not in text and "bug of Enzyme" not in text


@pytest.mark.parametrize("width", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint64, np.intp])
def test_integers_of_numpy_are_numbers(write: Write, width: type[np.integer]) -> None:
    source = write("double f(double x, int k) { double y = 1; while (k-- > 0) y *= x; return y; }\n")
    power = enzyme(source, "f", "x, k -> return")
    assert power.grad(2.0, width(3)) == power.grad(2.0, 3) == 12
    with pytest.raises(DtypeError):
        power.grad(2.0, np.bool_(True))
    with pytest.raises(DtypeError, match="cannot hold"):
        power.grad(2.0, np.int64(2**40))


def test_an_empty_array_has_a_gradient_of_no_elements(write: Write) -> None:
    source = write(
        """
#include <complex>
using namespace std;
double f(const double *x, int n) {
  complex<double> z = 0;
  for (int i = 0; i < n; i++) z = z * polar(.7, x[i]) + exp(complex<double>(0, x[i]));
  return abs(z) + arg(z + 3.);
}
""",
        "f.cpp",
    )
    f = enzyme(source, "f", "x[n] -> return")
    for _ in range(2):
        assert f.grad(np.zeros(0)).shape == (0,)
        assert np.isfinite(f.grad(np.ones(2))).all()


def test_numbers_of_tangents_and_cotangents_are_named(write: Write) -> None:
    product = enzyme(write("double f(double x, double y) { return x * y; }\n"), "f", "x, y -> return")
    with pytest.raises(SignatureError, match="takes 2 tangents, one for each input; 1 was given"):
        product.jvp((1.0, 2.0), (1.0,))
    _, pull = product.vjp(1.0, 2.0)
    with pytest.raises(SignatureError, match="takes one argument, the cotangent of return; 2 were given"):
        pull(1.0, 2.0)
    with pytest.raises(SignatureError, match="0 were given"):
        pull()
    assert pull(1.0) == (2.0, 1.0)
