"""A short run of each part of ``make torture``, and every program that was once differentiated wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from ffgrad.numpy import enzyme
from support.fixtures import Write
from torture.faults import failing_tools, kills, malformed, races
from torture.generators import generator, gradients, loop_nests
from torture.generators.hyperdual import Reference


@pytest.mark.parametrize("program", generator.found(), ids=lambda p: p.name)
def test_what_was_once_wrong_is_right(program: generator.Program, tmp_path: Path) -> None:
    """Crashes and wrong numbers that generated programs have found: right with the first pipeline, with no check to help."""
    verdict = gradients.judge(program, Reference([program], tmp_path), tmp_path, pipeline="inlined", verify="off")
    assert verdict.kind == "right", verdict


def test_generated_programs_are_never_silently_wrong() -> None:
    """Seeds that the long run does not have."""
    verdicts = gradients.run(1_000_000, 6, jobs=1)
    assert len(verdicts) == 6
    assert not [v for v in verdicts if v.kind in ("wrong", "died", "failed")], verdicts
    assert sum(v.points for v in verdicts if v.kind == "right") >= 6


def test_loops_that_access_the_same_arrays_are_right() -> None:
    """A few of the nests that ``torture/generators/loop_nests.py`` makes; among the first hundred three were wrong once."""
    assert (
        not loop_nests.run(41, 1)
        | loop_nests.run(82, 1)
        | loop_nests.run(97, 1)
        | loop_nests.run(1_000_000, 5)
        | loop_nests.run(10_000_104, 1)
    )


def test_the_check_of_generated_programs_sees_a_wrong_gradient(tmp_path: Path) -> None:
    """A reference of another program: every comparison has to notice."""
    program = next(p for p in map(generator.generate, range(100)) if p.shape == "map" and not p.single)
    # The function differs from what the reference computes in one coefficient.
    other = generator.Program(
        **{**program.__dict__, "text": program.text.replace("(real)0.1 * x[z]", "(real)0.2 * x[z]")}
    )
    assert other.text != program.text
    verdict = gradients.judge(other, Reference([program], tmp_path), tmp_path)
    assert verdict.kind == "wrong" and "value" in verdict.detail


def test_second_derivatives_of_a_saturated_tanh_are_right(write: Write) -> None:
    """And not infinity by infinity, nor zero where they are tiny; NaN stays NaN."""
    source = write(
        "#include <math.h>\n"
        "void f(const float* x, int n, float* y) { for (int i = 0; i < n; i++) y[i] = tanhf(x[i]); }\n"
        "void d(const double* x, int n, double* y) { for (int i = 0; i < n; i++) y[i] = tanh(x[i]); }\n"
    )
    for function, dtype, far in [("f", np.float32, 60.0), ("d", np.float64, 400.0)]:
        tanh = enzyme(source, function, "x[n] -> y[n]")
        x = np.array([-far, -0.5, 0.5, far], dtype=dtype)
        ones = np.ones(4, dtype=dtype)
        # The first call proves the derivative, at moderate arguments.
        tanh.hvp((np.array([0.1, 0.2, 0.3, 0.4], dtype=dtype),), (ones,), ones)
        (curvature,) = (np.asarray(c) for c in [tanh.hvp((x,), (ones,), ones)])
        t = np.tanh(x.astype(np.float64))
        np.testing.assert_allclose(curvature.ravel(), -2 * t * (1 - t * t), rtol=1e-3, atol=1e-12)
        # Where cosh² or its square is beyond the type's range, or would be with a tangent.
        for at in ([-43.5, -25.0, 15.0, 30.0], [-353.0, 200.0, 0.0, 43.0])[: 1 if dtype == np.float32 else 2]:
            x, steep = np.array(at, dtype=dtype), np.full(4, 1e4, dtype=dtype)
            (curvature,) = (np.asarray(c) for c in [tanh.hvp((x,), (steep,), ones)])
            e = np.exp(-2 * np.abs(x.astype(np.float64)))
            exact = -8 * np.sign(x) * e * (1 - e) / (1 + e) ** 3 * 1e4
            np.testing.assert_allclose(curvature.ravel(), exact, rtol=1e-5, atol=0.0)
        bad = np.array([np.nan, 1.0, 1.0, 1.0], dtype=dtype)
        assert np.isnan(np.asarray(tanh.hvp((bad,), (ones,), ones)).ravel()[0])


def test_racing_processes_share_one_build() -> None:
    """A few; the long run has 64."""
    race = races.race(3)
    assert race.passed, race


def test_killed_builds_leave_nothing_that_matters() -> None:
    """No corrupt load, no stuck lock; pruning takes away the rest."""
    result = kills.kill(4, every=2)
    assert result.passed and result.checked == 2, result


def test_malformed_inputs_are_typed_errors() -> None:
    """Sources, signatures and calls."""
    result = malformed.run(40)
    assert result.tried == 40 and result.passed, result.problems


@pytest.mark.parametrize("stage", ["clang: compile", "engine", "worker: derive"])
def test_failing_children_are_typed_errors(stage: str) -> None:
    """And the cache works afterwards."""
    result = failing_tools.run(stages=[stage], failures=["crash", "garbage"])
    assert result.tried == 2 and result.passed, result.problems
