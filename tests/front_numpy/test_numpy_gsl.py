"""The rules of GSL's functions, each against central differences of the library itself, called by ctypes."""

from __future__ import annotations

import ctypes
import ctypes.util
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import scipy.special
import scipy.stats
from ffgrad.errors import DifferentiationError
from ffgrad.numpy import Enzyme, enzyme
from support.fixtures import Write

RULES = Path(__file__).parents[2] / "compile-driver/rules"
LIBRARIES = ["gsl", "gslcblas"]
FOUND = ctypes.util.find_library("gsl")
pytestmark = pytest.mark.skipif(FOUND is None or not Path("/usr/include/gsl").is_dir(), reason="needs libgsl-dev")

# Second derivatives that are not numbers are not proven.
pytestmark = [pytestmark, pytest.mark.filterwarnings("ignore::ffgrad.errors.GradientWarning")]

# Calls at points. Arguments in braces have derivatives; numbers without a point are integers. `@` has a second form, that
# writes to a structure.
BESSEL = """
@bessel_J0({2.3}) @bessel_J1({2.3}) @bessel_Jn(3, {2.3}) @bessel_Jn(0, {1.3}) @bessel_J0({-2.3}) @bessel_J1({-2.3})
@bessel_Y0({2.3}) @bessel_Y1({2.3}) @bessel_Yn(3, {2.3}) @bessel_I0({-1.3}) @bessel_I1({1.3}) @bessel_In(3, {1.3})
@bessel_K0({1.3}) @bessel_K1({1.3}) @bessel_Kn(3, {1.3}) @bessel_Kn(0, {1.3})
@bessel_I0_scaled({-1.3}) @bessel_I1_scaled({1.3}) @bessel_In_scaled(3, {1.3})
@bessel_K0_scaled({1.3}) @bessel_K1_scaled({1.3}) @bessel_Kn_scaled(3, {1.3})
@bessel_Jnu(0.5, {1.3}) @bessel_Jnu(2.5, {1.3}) @bessel_Ynu(0.5, {1.3}) @bessel_Ynu(2.5, {1.3})
@bessel_Inu(0.5, {1.3}) @bessel_Inu(2.5, {1.3}) @bessel_Knu(0.5, {1.3}) @bessel_Knu(2.5, {1.3})
@bessel_Inu_scaled(0.5, {1.3}) @bessel_Inu_scaled(2.5, {1.3}) @bessel_Knu_scaled(2.5, {1.3}) @bessel_lnKnu(2.5, {1.3})
@bessel_j0({1.3}) @bessel_j1({1.3}) @bessel_j2({1.3}) @bessel_j2({-1.3}) @bessel_jl(0, {1.3}) @bessel_jl(3, {1.3})
@bessel_y0({1.3}) @bessel_y1({1.3}) @bessel_y2({1.3}) @bessel_yl(0, {1.3}) @bessel_yl(3, {1.3})
@bessel_i0_scaled({1.3}) @bessel_i1_scaled({1.3}) @bessel_i2_scaled({-1.3}) @bessel_il_scaled(0, {1.3})
@bessel_il_scaled(3, {1.3}) @bessel_k0_scaled({1.3}) @bessel_k1_scaled({1.3}) @bessel_k2_scaled({1.3})
@bessel_kl_scaled(0, {1.3}) @bessel_kl_scaled(3, {1.3}) bessel_zero_J0(2) bessel_zero_J1(2)
@airy_Ai({-1.3}, 0) @airy_Ai({1.3}, 0) @airy_Bi({-1.3}, 0) @airy_Ai_deriv({1.3}, 0) @airy_Bi_deriv({-1.3}, 0)
@airy_Ai_scaled({1.3}, 0) @airy_Ai_scaled({-1.3}, 0) @airy_Bi_scaled({1.3}, 0) @airy_Ai_deriv_scaled({1.3}, 0)
@airy_Bi_deriv_scaled({1.3}, 0) airy_zero_Ai(2)
"""
GAMMA = """
@gamma({2.3}) @gamma({-1.7}) @lngamma({2.3}) @lngamma({-1.7}) @gammastar({2.3}) @gammainv({2.3}) @gammainv({-1.7})
@psi({2.3}) @psi({-1.7}) @psi_1({2.3}) @psi_n(2, {2.3}) psi_int(3) @beta({2.3}, {1.4}) @lnbeta({2.3}, {1.4})
@poch({2.3}, {1.4}) @lnpoch({2.3}, {1.4}) @gamma_inc({2.3}, {1.4}) @gamma_inc_P({2.3}, {1.4}) @gamma_inc_Q({2.3}, {1.4})
@gamma_inc_P({0.4}, {5.4}) @gamma_inc_Q({30.0}, {25.4}) @gamma_inc(-0.5, {1.4}) @beta_inc(2.3, 1.4, {0.6})
@beta_inc(0.7, 3.4, {0.2}) fact(4) lnfact(4) doublefact(5) lndoublefact(5) choose(5, 2) lnchoose(5, 2)
@taylorcoeff(3, {1.4}) @taylorcoeff(0, {1.4}) zeta_int(3) eta_int(3)
@erf({0.7}) @erfc({0.7}) @log_erfc({0.7}) @log_erfc({9.7}) @erf_Z({0.7}) @erf_Q({0.7}) @hazard({0.7}) @hazard({-3.7})
@expint_E1({0.7}) @expint_E2({0.7}) @expint_En(0, {0.7}) @expint_En(1, {0.7}) @expint_En(4, {0.7}) @expint_Ei({0.7})
@expint_E1_scaled({0.7}) @expint_E2_scaled({0.7}) @expint_Ei_scaled({0.7}) @expint_3({0.7}) @Si({0.7}) @Ci({0.7})
@Shi({0.7}) @Chi({0.7}) @atanint({0.7}) @dawson({0.7}) @dilog({0.7}) @dilog({1.7}) @dilog({-1.7}) @clausen({0.7})
@debye_1({0.1}) @debye_1({1.7}) @debye_2({0.2}) @debye_2({1.7}) @debye_3({0.2}) @debye_3({1.7}) @debye_4({0.2})
@debye_4({1.7}) @debye_5({0.2}) @debye_5({1.7}) @debye_6({0.2}) @debye_6({1.7})
@fermi_dirac_m1({0.7}) @fermi_dirac_0({0.7}) @fermi_dirac_1({0.7}) @fermi_dirac_2({0.7}) @fermi_dirac_int(4, {0.7})
@fermi_dirac_half({0.7}) @fermi_dirac_3half({0.7})
"""
OTHERS = """
@ellint_Kcomp({0.7}, 0) @ellint_Kcomp({0.0}, 0) @ellint_Ecomp({0.7}, 0) @ellint_Dcomp({0.7}, 0) @ellint_F({0.8}, {0.7}, 0)
@ellint_E({0.8}, {0.7}, 0) @ellint_E({0.8}, {-0.7}, 0) @ellint_D({0.8}, {0.7}, 0) @ellint_F({-0.8}, {0.7}, 0)
@lambert_W0({0.7}) @lambert_W0({-0.3}) @lambert_Wm1({-0.3})
@legendre_P1({0.4}) @legendre_P2({0.4}) @legendre_P3({0.4}) @legendre_Pl(0, {0.4}) @legendre_Pl(7, {0.4})
@legendre_Q0({0.4}) @legendre_Q1({0.4}) @legendre_Ql(0, {0.4}) @legendre_Ql(3, {0.4}) @legendre_Plm(4, 2, {0.4})
@legendre_Plm(2, 2, {0.4}) @legendre_sphPlm(4, 2, {0.4}) @legendre_sphPlm(2, 2, {0.4}) @hermite(4, {0.4})
@hermite(0, {0.4}) @hermite_prob(4, {0.4}) @hermite_func(0, {0.4}) @hermite_func(4, {0.4}) laguerre_1({0.7}, {0.4})
laguerre_2({0.7}, {0.4}) laguerre_3({0.7}, {0.4}) laguerre_n(5, {0.7}, {0.4}) laguerre_n(0, {0.7}, {0.4})
gegenpoly_1({0.7}, {0.4}) gegenpoly_2({0.7}, {0.4}) gegenpoly_3({0.7}, {0.4}) @hyperg_0F1(1.7, {0.4})
@hyperg_1F1(1.7, 2.2, {0.4}) @hyperg_U(1.7, 2.2, {0.4}) @hyperg_2F1(0.7, 1.2, 2.5, {0.4}) @hyperg_2F1(0.0, 1.2, 2.5, {0.4})
@exprel({0.4}) @exprel({-1.4}) @exprel_2({0.4}) @exprel_n(3, {0.4}) @log_1plusx_mx({0.4}) @sinc({0.4}) @sinc({0.0})
@lnsinh({0.4}) @lncosh({0.4}) log({0.4}) log_abs({-0.4}) log_1plusx({0.4}) exp({0.4}) expm1({0.4}) exp_mult({0.4}, {0.7})
sin({0.4}) cos({0.4}) sin_pi({0.4}) cos_pi({5.4}) multiply({0.4}, {0.7}) hypot({0.4}, {0.7}) pow_int({0.4}, 3)
"""
ELEMENTARY = """
log1p({0.4}) expm1({0.4}) asinh({0.4}) acosh({1.4}) atanh({0.4}) hypot({0.4}, {-0.7}) hypot({1.4}, {0.7})
hypot3({0.4}, {0.7}, {1.1}) pow_int({0.4}, 3) pow_int({0.4}, -3) pow_int({0.4}, 0) pow_uint({0.4}, 5) pow_2({0.4})
pow_3({0.4}) pow_4({0.4}) pow_5({0.4}) pow_6({0.4}) pow_7({0.4}) pow_8({0.4}) pow_9({0.4}) isnan({0.4}) isinf({0.4})
finite({0.4})
"""
DENSITIES = """
ugaussian_pdf({0.7}) gaussian_pdf({0.7}, {1.3}) gaussian_tail_pdf({1.7}, {0.6}, {1.3}) ugaussian_tail_pdf({1.7}, {0.6})
bivariate_gaussian_pdf({0.7}, {0.2}, {1.3}, {0.8}, {0.4}) exponential_pdf({0.7}, {1.3}) laplace_pdf({0.7}, {1.3})
exppow_pdf({0.7}, {1.3}, {1.6}) cauchy_pdf({0.7}, {1.3}) rayleigh_pdf({0.7}, {1.3}) rayleigh_tail_pdf({1.7}, {0.6}, {1.3})
gamma_pdf({0.7}, {1.3}, {1.6}) erlang_pdf({0.7}, {1.3}, {2.0}) chisq_pdf({0.7}, {3.0}) tdist_pdf({0.7}, {3.0})
fdist_pdf({0.7}, {3.0}, {4.0}) beta_pdf({0.7}, {1.3}, {1.6}) flat_pdf({0.7}, {0.3}, {1.6}) lognormal_pdf({0.7}, {0.3}, {1.6})
logistic_pdf({-0.7}, {1.3}) pareto_pdf({1.7}, {1.3}, {0.6}) weibull_pdf({0.7}, {1.3}, {1.6}) gumbel1_pdf({0.7}, {1.3}, {1.6})
gumbel2_pdf({0.7}, {1.3}, {1.6}) bernoulli_pdf(1, {0.3}) poisson_pdf(3, {1.3}) poisson_pdf(0, {1.3}) binomial_pdf(2, {0.3}, 5)
geometric_pdf(3, {0.3}) geometric_pdf(1, {0.3}) negative_binomial_pdf(2, {0.3}, {2.5}) exponential_pdf({-0.7}, {1.3})
beta_pdf({1.7}, {1.3}, {1.6}) weibull_pdf({-0.7}, {1.3}, {1.6})
"""
# For P and Q; an inverse in the next one.
DISTRIBUTIONS = """
ugaussian({0.7}) gaussian({0.7}, {1.3}) lognormal({0.7}, {0.3}, {1.6}) exponential({0.7}, {1.3}) laplace({0.7}, {1.3})
laplace({-0.7}, {1.3}) cauchy({0.7}, {1.3}) cauchy({-2.7}, {1.3}) rayleigh({0.7}, {1.3}) logistic({0.7}, {1.3})
logistic({-0.7}, {1.3}) pareto({1.7}, {1.3}, {0.6}) weibull({0.7}, {1.3}, {1.6}) gumbel1({0.7}, {1.3}, {1.6})
gumbel2({0.7}, {1.3}, {1.6}) flat({0.7}, {0.3}, {1.6}) gamma({0.7}, {1.3}, {1.6}) chisq({0.7}, {3.0}) poisson(2, {1.3})
beta({0.7}, 1.3, 1.6) binomial(2, {0.3}, 5) tdist({0.7}, 3.0) fdist({0.7}, 3.0, 4.0) exponential({-0.7}, {1.3})
"""
INVERSES = """
ugaussian({0.7}) gaussian({0.7}, {1.3}) lognormal({0.7}, {0.3}, {1.6}) exponential({0.7}, {1.3}) laplace({0.7}, {1.3})
laplace({0.2}, {1.3}) cauchy({0.7}, {1.3}) cauchy({0.2}, {1.3}) rayleigh({0.7}, {1.3}) logistic({0.7}, {1.3})
pareto({0.7}, {1.3}, {0.6}) weibull({0.7}, {1.3}, {1.6}) gumbel1({0.7}, {1.3}, {1.6}) gumbel2({0.7}, {1.3}, {1.6})
flat({0.7}, {0.3}, {1.6}) gamma({0.7}, {1.3}, {1.6}) chisq({0.7}, {3.0}) beta({0.7}, 1.3, 1.6) tdist({0.7}, 3.0)
fdist({0.7}, 3.0, 4.0)
"""
FAMILIES = {
    "bessel": [("gsl_sf_", "", BESSEL)],
    "gamma": [("gsl_sf_", "", GAMMA)],
    "others": [("gsl_sf_", "", OTHERS), ("gsl_", "", ELEMENTARY)],
    "distributions": [
        ("gsl_ran_", "", DENSITIES),
        ("gsl_cdf_", "_P", DISTRIBUTIONS),
        ("gsl_cdf_", "_Q", DISTRIBUTIONS),
        ("gsl_cdf_", "_Pinv", INVERSES),
        ("gsl_cdf_", "_Qinv", INVERSES),
    ],
}
# By way of the integral of order -1/2, whose derivative is not known.
NO_SECOND = {"gsl_sf_fermi_dirac_half"}
# Called by tests of their own.
ELSEWHERE = {"gsl_ran_dirichlet_pdf", "gsl_sf_fermi_dirac_mhalf", "gsl_sf_fermi_dirac_mhalf_e"}


INCLUDES = """\
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_sf.h>
#define STRUCTURE(f, ...) ({ gsl_sf_result r; f##_e(__VA_ARGS__, &r); r.val; })
"""


class Row(NamedTuple):
    """A call: the function's name, its numbers, which of them are integers, and which have derivatives."""

    name: str
    values: list[float]
    integer: list[bool]
    active: list[int]
    structure: bool

    def reference(self, *values: float) -> float:
        """Return the library's value."""
        function = ctypes.CDLL(FOUND)[self.name]
        function.restype = ctypes.c_int if self.name in {"gsl_isnan", "gsl_isinf", "gsl_finite"} else ctypes.c_double
        function.argtypes = [ctypes.c_int if i else ctypes.c_double for i in self.integer]
        return float(function(*[int(v) if i else v for v, i in zip(values, self.integer, strict=True)]))

    def slope(self, argument: int) -> float:
        """Return the derivative by central differences of sixth order."""
        x, total = self.values[argument], 0.0
        h = 4e-3 * max(abs(x), 0.5)
        for k, weight in ((1, 45), (2, -9), (3, 1)):
            at = [[v + s * k * h * (i == argument) for i, v in enumerate(self.values)] for s in (1, -1)]
            total += weight * (self.reference(*at[0]) - self.reference(*at[1]))
        return total / (60 * h)


def rows(family: str) -> list[Row]:
    """The calls of a family, with those of the second form."""
    found = []
    for before, after, text in FAMILIES[family]:
        for form, name, inside in re.findall(r"(@?)(\w+)\(([^)]*)\)", text):
            arguments = [a.strip() for a in inside.split(",")]
            active = [i for i, a in enumerate(arguments) if a[0] == "{"]
            plain = [a.strip("{}") for a in arguments]
            integer = ["." not in a for a in plain]
            full = f"{before}{name}{after}"
            found.append(Row(full, [float(a) for a in plain], integer, active, False))
            if form:
                found.append(found[-1]._replace(structure=True))
    return found


def source(calls: list[Row]) -> str:
    """A program of two functions: all values of an array of active arguments, and their sum."""
    lines, at = [], 0
    for row in calls:
        arguments = []
        for i, value in enumerate(row.values):
            arguments.append(f"x[{at}]" if i in row.active else str(int(value)) if row.integer[i] else str(value))
            at += i in row.active
        inside = ", ".join(arguments)
        lines.append(f"STRUCTURE({row.name}, {inside})" if row.structure else f"{row.name}({inside})")
    values = "\n".join(f"  y[{i}] = {line};" for i, line in enumerate(lines))
    return f"""\
{INCLUDES}
void all(const double* x, double* y) {{
{values}
}}
double total(const double* x) {{
  double y[{len(lines)}], sum = 0;
  all(x, y);
  for (int i = 0; i < {len(lines)}; i++) sum += y[i];
  return sum;
}}
"""


def flat(calls: list[Row]) -> np.ndarray:
    """All active arguments."""
    return np.array([row.values[i] for row in calls for i in row.active])


def gsl(write: Write, text: str, name: str, signature: str = "x[n] -> return") -> Enzyme:
    """Compile a program that calls GSL."""
    return enzyme(write(text, f"{name}.c"), name, signature, libraries=LIBRARIES)


@pytest.mark.parametrize("family", FAMILIES)
def test_values_and_derivatives_are_the_librarys(write: Write, family: str) -> None:
    """First derivatives in both modes, against differences of the library; second ones, against differences of the first."""
    calls = rows(family)
    text, x = source(calls), flat(calls)
    f = gsl(write, text, "all", f"x[{x.size}] -> y[{len(calls)}]")
    np.testing.assert_allclose(f(x), [row.reference(*row.values) for row in calls], rtol=1e-11)
    total = gsl(write, text, "total", f"x[{x.size}] -> return")
    gradient = total.grad(x)
    expected = np.array([row.slope(i) for row in calls for i in row.active])
    named = [f"{row.name} {i}{' _e' * row.structure}" for row in calls for i in row.active]
    wrong = ~np.isclose(gradient, expected, rtol=1e-7, atol=1e-8)
    assert not wrong.any(), [(n, *p) for n, *p in np.array([named, gradient, expected]).T[wrong]]
    direction = np.linspace(1, 2, x.size)
    tangent = total.jvp((x,), (direction,))[1]
    np.testing.assert_allclose(tangent, gradient @ direction, rtol=1e-10)
    # Each argument occurs in one call, so the tangents do too.
    second, h = total.hvp(x, direction), 1e-4
    steps = h * np.maximum(np.abs(x), 0.1).min() * direction
    difference = (
        8 * (total.grad(x + steps) - total.grad(x - steps)) - total.grad(x + 2 * steps) + total.grad(x - 2 * steps)
    ) / 12
    difference *= direction[0] / steps[0]
    known = np.array([row.name not in NO_SECOND for row in calls for _ in row.active])
    assert np.isnan(second[~known]).all()
    wrong = known & ~np.isclose(second, difference, rtol=1e-5, atol=1e-6)
    assert not wrong.any(), [(n, *p) for n, *p in np.array([named, second, difference]).T[wrong]]


def test_every_rule_is_tested() -> None:
    """By a row of the tables above."""
    replaced = {
        name
        for file in ("gsl_sf.c", "gsl_ran.c")
        for name in re.findall(r"^FFGRAD_REPLACES\((\w+),", (RULES / file).read_text(), re.MULTILINE)
    }
    called = {row.name + "_e" * row.structure for family in FAMILIES for row in rows(family)}
    assert replaced - called - ELSEWHERE == set()
    assert called - replaced == set()


# What is called, its arguments, and by which of these the derivative is not known.
UNKNOWN = [
    ("gsl_sf_bessel_Jnu", (1.5, 2.3), {0}),
    ("gsl_sf_bessel_Knu_scaled", (1.5, 2.3), {0}),
    ("gsl_sf_gamma_inc", (-0.5, 2.3), {0}),
    ("gsl_sf_beta_inc", (1.5, 2.3, 0.4), {0, 1}),
    ("gsl_sf_hyperg_0F1", (1.5, 0.3), {0}),
    ("gsl_sf_hyperg_1F1", (1.5, 2.3, 0.4), {0, 1}),
    ("gsl_sf_hyperg_2F1", (1.5, 2.3, 3.1, 0.4), {0, 1, 2}),
    ("gsl_sf_fermi_dirac_mhalf", (0.4,), {0}),
    ("gsl_cdf_tdist_P", (0.4, 3.0), {1}),
    ("gsl_cdf_beta_Pinv", (0.4, 1.5, 2.5), {1, 2}),
]


def test_a_derivative_that_is_not_known_is_not_a_number(write: Write) -> None:
    """And it does not spoil the others, in either mode and in both forms."""
    lines, active, unknown = [], [], []
    for structure in (False, True):
        for name, arguments, without in UNKNOWN:
            if structure and "cdf" in name:
                continue
            inside = ", ".join(f"x[{len(active) + i}]" for i in range(len(arguments)))
            lines.append(f"STRUCTURE({name}, {inside})" if structure else f"{name}({inside})")
            unknown += [i in without for i in range(len(arguments))]
            active += arguments
    text = f"{INCLUDES}double total(const double* x) {{ return {' + '.join(lines)}; }}"
    total = gsl(write, text, "total", f"x[{len(active)}] -> return")
    x = np.array(active)
    np.testing.assert_array_equal(np.isnan(total.grad(x)), unknown)
    tangents = [np.isnan(total.jvp((x,), (e,))[1]) for e in np.eye(x.size)]
    np.testing.assert_array_equal(tangents, unknown)


DIRICHLET = """
#include <gsl/gsl_randist.h>
double dirichlet(const double* alpha, const double* theta, int n) { return gsl_ran_dirichlet_pdf(n, alpha, theta); }
"""


def test_a_density_of_several_numbers(write: Write) -> None:
    """Against SciPy."""
    f = gsl(write, DIRICHLET, "dirichlet", "alpha[n], theta[n] -> return")
    alpha, theta = np.array([1.5, 2.5, 0.7]), np.array([0.2, 0.5, 0.3])
    p = scipy.stats.dirichlet.pdf(theta, alpha)
    np.testing.assert_allclose(f(alpha, theta), p)
    by_alpha = p * (scipy.special.psi(alpha.sum()) - scipy.special.psi(alpha) + np.log(theta))
    np.testing.assert_allclose(f.grad(alpha, theta), by_alpha)
    np.testing.assert_allclose(f.grad(alpha, theta, argnums=1), p * (alpha - 1) / theta)


# The handler is turned off, and memory is freed.
HANDLER = """
#include <gsl/gsl_errno.h>
#include <gsl/gsl_sf.h>
#include <stdlib.h>
double total(const double* x, int n) {
  gsl_error_handler_t* old = gsl_set_error_handler_off();
  gsl_sf_result* r = malloc(n * sizeof(gsl_sf_result));
  double sum = 0;
  for (int i = 0; i < n; i++)
    if (gsl_sf_bessel_K0_e(x[i], &r[i]) == GSL_SUCCESS || gsl_strerror(GSL_EUNDRFLW)[0] == 0) sum += r[i].val * r[i].val;
  free(r);
  gsl_set_error_handler(old);
  if (sum < 0) gsl_error("negative", __FILE__, __LINE__, GSL_EFAILED);
  return sum;
}
"""


def test_results_in_memory_that_is_freed_and_an_error_handler(write: Write) -> None:
    """The derivative of the squares."""
    f = gsl(write, HANDLER, "total")
    x = np.array([0.7, 1.3, 2.5])
    expected = -2 * scipy.special.k0(x) * scipy.special.k1(x)
    np.testing.assert_allclose(f.grad(x), expected, rtol=1e-12)
    curvature = 2 * scipy.special.k1(x) ** 2 + scipy.special.k0(x) * (scipy.special.k0(x) + scipy.special.kn(2, x))
    np.testing.assert_allclose(f.hvp(x, np.ones(3)), curvature, rtol=1e-12)


def test_a_function_without_a_rule_is_refused(write: Write) -> None:
    """By its name."""
    f = gsl(write, "#include <gsl/gsl_sf.h>\ndouble zeta(double x) { return gsl_sf_zeta(x); }", "zeta", "x -> return")
    with pytest.raises(DifferentiationError, match="gsl_sf_zeta"):
        f.grad(2.5)
