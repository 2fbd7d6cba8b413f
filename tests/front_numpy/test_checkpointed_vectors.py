"""Checkpointed loops over memory that one of several allocations gives (vectors that have grown), and over objects on the heap."""

from __future__ import annotations

import numpy as np
import pytest
from ffgrad.errors import DifferentiationError
from ffgrad.numpy import enzyme
from support.fixtures import Write

SIGNATURE = "u[n], const c[n], steps -> u[n]"
HEAD = """\
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <vector>
#include <ffgrad/derivatives.h>
"""
STEP = "for (int i = 0; i < n; i++) {0}[i] = 0.9 * {0}[i] + 0.1 * std::sin(c[i] * {0}[(i + 1) % n]);"


def program(before: str, loop: str, after: str = "") -> str:
    """One function around a loop."""
    body = f"  {before}\n  FFGRAD_CHECKPOINT(3);\n  {loop}\n  {after}\n"
    return HEAD + 'extern "C" void run(double *u, const double *c, int n, int steps) {\n' + body + "}\n"


GROWN = program(
    "std::vector<double> v; for (int i = 0; i < n; i++) v.push_back(u[i] * c[i]);",
    f"for (int s = 0; s < steps; s++) {STEP.format('v')}",
    "for (int i = 0; i < n; i++) u[i] = v[i];",
)


# A vector of structures that has grown, or that had room, behind the address of an object; loops by iterators.
PARTICLES = program(
    """struct Particle { double x, v; };
  struct Cloud { std::vector<Particle> particles; double dt;
    void step() { for (auto &p : particles) p.v -= dt * std::sin(p.x); for (auto &p : particles) p.x += dt * p.v; } };
  auto cloud = std::make_unique<Cloud>();
  cloud->dt = 0.1;
  if (n > 5) cloud->particles.reserve(n);
  for (int i = 0; i < n; i++) cloud->particles.push_back({u[i], c[i]});""",
    "for (int s = 0; s < steps; s++) cloud->step();",
    "for (int i = 0; i < n; i++) u[i] = cloud->particles[i].x;",
)
# The same in the manner of C: structures and arrays on the heap, two buffers that are swapped.
STRUCTURES = program(
    """struct Pair { double *a, *b; int n; };
  struct Model { Pair *pair; double dt; };
  auto *m = (Model *)std::calloc(1, sizeof(Model));
  m->pair = (Pair *)std::malloc(sizeof(Pair));
  m->dt = 0.1, m->pair->n = n;
  m->pair->a = (double *)std::malloc(n * sizeof(double));
  m->pair->b = n > 5 ? (double *)std::malloc(2 * n * sizeof(double)) : (double *)std::malloc(n * sizeof(double));
  for (int i = 0; i < n; i++) m->pair->a[i] = u[i], m->pair->b[i] = c[i] * u[i];""",
    """for (int s = 0; s < steps; s++) {
    for (int i = 0; i < m->pair->n; i++) m->pair->a[i] += m->dt * std::sin(m->pair->b[i]);
    double *old = m->pair->a; m->pair->a = m->pair->b; m->pair->b = old;
  }""",
    "for (int i = 0; i < n; i++) u[i] = m->pair->a[i]; std::free(m->pair->a); std::free(m->pair->b); std::free(m->pair); std::free(m);",
)

# A function with the loop, for two vectors of its caller; and an array that realloc has enlarged.
HELPER = (
    HEAD
    + """static void run_one(std::vector<double> &v, const double *c, int steps) {
  std::vector<double> w(v.size());
  FFGRAD_CHECKPOINT(3);
  for (int s = 0; s < steps; s++) {
    for (std::size_t i = 0; i < v.size(); i++) w[i] = v[i] + 0.1 * std::sin(c[i] * v[(i + 1) % v.size()]);
    v.swap(w);
  }
}
extern "C" void run(double *u, const double *c, int n, int steps) {
  std::vector<double> a(u, u + n), b;
  for (int i = 0; i < n; i++) b.push_back(u[i] * u[i]);
  run_one(a, c, steps);
  run_one(b, c, steps / 2);
  for (int i = 0; i < n; i++) u[i] = a[i] * b[i];
}
"""
)
ENLARGED = program(
    """int room = 2, m = 0;
  double *v = (double *)std::malloc(room * sizeof(double));
  for (int i = 0; i < n; i++) {
    if (m == room) v = (double *)std::realloc(v, (room *= 2) * sizeof(double));
    v[m++] = u[i] * c[i];
  }""",
    f"for (int s = 0; s < steps; s++) {STEP.format('v')}",
    "for (int i = 0; i < n; i++) u[i] = v[i]; std::free(v);",
)
PROGRAMS = {"grown": GROWN, "particles": PARTICLES, "structures": STRUCTURES, "helper": HELPER, "enlarged": ENLARGED}


@pytest.mark.parametrize("source", PROGRAMS.values(), ids=PROGRAMS)
def test_memory_that_is_found_behind_an_object_or_several_allocations(source: str, write: Write) -> None:
    """Against differences, by the dot-product identity, and as without checkpoints."""
    f = enzyme(write(source, "model.cpp"), "run", SIGNATURE)
    plain = enzyme(write(source.replace("FFGRAD_CHECKPOINT(3);", ""), "plain.cpp"), "run", SIGNATURE)
    random = np.random.default_rng(3)
    for n in (1, 2, 7):
        u, c, direction, weights = random.normal(size=n), 0.5 + random.random(n), *random.normal(size=(2, n))
        result, pullback = f.vjp(u, c, 20)
        given = pullback(weights)
        gradient = np.asarray(given[0] if isinstance(given, tuple) else given)
        assert f.checkpointing() is not None and plain.checkpointing() is None
        _, tangent = f.jvp((u, c, 20), (direction, None, None))
        assert gradient @ direction == pytest.approx(weights @ np.asarray(tangent), rel=1e-11)
        ahead, behind = f(u + 1e-6 * direction, c, 20), f(u - 1e-6 * direction, c, 20)
        assert gradient @ direction == pytest.approx(weights @ (ahead - behind) / 2e-6, rel=1e-6, abs=1e-8)
        given = plain.vjp(u, c, 20)[1](weights)
        np.testing.assert_allclose(gradient, given[0] if isinstance(given, tuple) else given, rtol=1e-13)
        assert np.shape(result) == (n,)


SEVERAL = "double *now = 0, *old = 0; for (int k = 0; k < 2; k++) {{ old = now; now = (double *)std::malloc({}); for (int i = 0; i < n; i++) now[i] = (k + 1) * u[i]; }}"
SHARED = program(
    SEVERAL.format("n * sizeof(double)"),
    "for (int s = 0; s < steps; s++) for (int i = 0; i < n; i++) { old[i] = 0.9 * old[i] + std::sin(now[i]); now[i] *= c[i]; }",
    "for (int i = 0; i < n; i++) u[i] = old[i] + now[i];",
)


def test_two_arrays_of_one_allocation_are_refused(write: Write) -> None:
    """Only one of them would be restored."""
    f = enzyme(write(SHARED, "model.cpp"), "run", SIGNATURE)
    with pytest.raises(DifferentiationError) as error:
        f.vjp(np.linspace(0.3, 1.2, 5), np.ones(5), 5)[1](np.ones(5))
    assert "one line of the program allocates several times" in str(error.value)
    assert error.value.code == "checkpoint"


CALLABLE = program(
    """std::function<void(std::vector<double> &)> f;
  if (c[0] > 0.5) f = [&](std::vector<double> &v) { STEP };
  else f = [&](std::vector<double> &v) { for (int i = 0; i < n; i++) v[i] *= c[i]; };
  std::vector<double> v(u, u + n);""".replace("STEP", STEP.format("v")),
    "for (int s = 0; s < steps; s++) f(v);",
    "for (int i = 0; i < n; i++) u[i] = v[i];",
)


def test_a_callable_object_is_refused_in_the_users_words(write: Write) -> None:
    """The address of its closure is in memory; no function of ours is named."""
    f = enzyme(write(CALLABLE, "model.cpp"), "run", SIGNATURE)
    with pytest.raises(DifferentiationError) as error:
        f.vjp(np.linspace(0.3, 1.2, 5), np.ones(5), 5)[1](np.ones(5))
    assert "it uses memory whose address is itself in memory" in str(error.value)
    assert "ffgrad." not in str(error.value) and error.value.code == "checkpoint"
