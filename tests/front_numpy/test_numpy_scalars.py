"""Numbers by pointer and texts as arguments: C as its users write it."""

from __future__ import annotations

import numpy as np
import pytest
from ffgrad.errors import CompileError, DtypeError, SignatureError
from ffgrad.numpy import enzyme
from support.fixtures import Write

HEAD = "void head(double a, double b, double *hg, int *ierr) { *hg = a * b * b; *ierr = a > 0 ? 0 : 1; }\n"
NORM = """
#include <math.h>
#include <string.h>
double norm(const char *kind, const double *x, int n) {
  double s = 0;
  if (strcmp(kind, "max") == 0) { for (int i = 0; i < n; i++) s = fmax(s, fabs(x[i])); return s; }
  for (int i = 0; i < n; i++) s += x[i] * x[i];
  return strlen(kind) == 3 ? sqrt(s) : s;
}
"""


def test_results_through_pointers_are_numbers(write: Write) -> None:
    """Without brackets; an integer one has no gradient."""
    f = enzyme(write(HEAD), "head", "a, b -> hg, ierr")
    hg, ierr = f(2.0, 3.0)
    assert (hg, ierr) == (18.0, 0) and np.ndim(hg) == 0
    value, pull = f.vjp(2.0, 3.0)
    assert [float(g) for g in pull((1.0, None))] == [9.0, 12.0]


def test_a_signature_to_start_from_has_numbers_where_nothing_has_a_size(write: Write) -> None:
    """Of two ways to read a pointer the likelier one."""
    with pytest.raises(SignatureError) as caught:
        enzyme(write(HEAD), "head")
    assert 'a signature to start from: "a, b -> hg, ierr"' in str(caught.value)


def test_numbers_by_pointer_are_inputs_and_updated_in_place(write: Write) -> None:
    """A bare name is one number wherever it stands."""
    f = enzyme(write("void step(double *t, const double *dt) { *t += *dt * *t; }\n"), "step", "t, dt -> t")
    assert f(2.0, 3.0) == 8.0
    assert [float(g) for g in f.value_and_grad(2.0, 3.0, argnums=(0, 1))[1]] == [4.0, 2.0]


def test_a_text_is_a_constant(write: Write) -> None:
    """With a zero at its end, with and without a signature; an array of bytes is taken too."""
    x = np.array([3.0, -4.0])
    for signature in ("kind, x[n] -> return", None):
        f = enzyme(write(NORM), "norm", signature)
        assert (f("max", x), f("two", x), f("", x)) == (4.0, 5.0, 25.0)
        assert np.allclose(f.grad("two", x, argnums=1), [0.6, -0.8])
        assert f(np.array([109, 97, 120, 0], np.int8), x) == 4.0


def test_texts_that_do_not_fit_are_refused(write: Write) -> None:
    """A zero inside, and a text where numbers are wanted."""
    f = enzyme(write(NORM), "norm", "kind, x[n] -> return")
    with pytest.raises(DtypeError, match="zero character"):
        f("ma\0x", np.ones(2))
    with pytest.raises(DtypeError, match="`x` of `norm` cannot be given as a text"):
        f("max", "1.0")


def test_a_name_that_a_macro_makes_another_is_explained(write: Write) -> None:
    """With the macro's place."""
    write("#define rho lib_rho\ndouble rho(double x);\n", "lib.h")
    source = write('#include "lib.h"\ndouble rho(double x) { return x * x; }\n', "rho.c")
    for given in (source, source.parent):
        with pytest.raises(CompileError) as caught:
            enzyme(given, "rho")
        assert "`rho` is a macro (lib.h:1) that expands to `lib_rho`: give that name." in str(caught.value)
        assert enzyme(given, "lib_rho").grad(3.0) == 6.0


def test_bisection_is_told_to_have_no_derivative_by_ad(write: Write) -> None:
    """With the remedy."""
    text = """
    double solve(double p) {
      double low = 0, high = 2 + p;
      high = 4;
      for (int i = 0; i < 50; i++) { double x = 0.5 * (low + high); if (x * x > p) high = x; else low = x; }
      return low;
    }
    """
    f = enzyme(write(text), "solve", verify="strict")
    with pytest.raises(Exception, match="implicit function theorem|implicit"):
        f.grad(2.0)
