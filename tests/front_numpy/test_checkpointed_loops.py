"""Checkpointed loops inside a function: gradients against those of the same loop without, memory, the schedule, and what is refused."""

from __future__ import annotations

from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ffgrad.errors import DifferentiationError, SignatureError
from ffgrad.numpy import Enzyme, enzyme
from support.fixtures import Write

CASES = Path(__file__).parents[1] / "cases"
WAVE = CASES / "loops" / "checkpointed_wave.c"
WAVE_SIGNATURE = "start[n], speed[n], steps -> end[n], energy"

HEAD = """\
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <ffgrad/derivatives.h>
"""
SIGNATURE = "u[n], const c[n], steps -> u[n]"
STEP = "for (int i = 0; i < n; i++) u[i] = 0.9 * u[i] + 0.1 * sin(c[i] * u[(i + 1) % n]);"

# Loops with early exits, that count down, with other access patterns: name, what comes before, the loop, what comes after.
PROGRAMS = {
    "counted down": ("", f"for (int s = steps; s-- > 0;) {{ {STEP} }}", ""),
    "while it changes": (
        "double change; int s = 0;",
        f"do {{ double old = u[0]; {STEP} change = fabs(u[0] - old); s++; }} while (change > 1e-3 && s < steps);",
        "u[1] += change;",
    ),
    "two exits": (
        "int s;",
        f"for (s = 0; s < steps; s++) {{ {STEP} if (u[0] > 50) break; if (s == 19) return; }}",
        "u[0] *= 1 + s;",
    ),
    "memory of an iteration": (
        "",
        "for (int s = 0; s < steps; s++) { double *w = malloc(n * sizeof(double)); for (int i = 0; i < n; i++) w[i] = u[i] * c[i];"
        " for (int i = 0; i < n; i++) u[i] = sin(w[(i + 1) % n]) + 0.5 * u[i]; free(w); }",
        "",
    ),
    "three buffers": (
        "double *a = malloc(n * sizeof(double)), *b = malloc(n * sizeof(double)), *d = malloc(n * sizeof(double));"
        " for (int i = 0; i < n; i++) { a[i] = u[i]; b[i] = c[i] * u[i]; d[i] = 0; }",
        "for (int s = 0; s < steps; s++) { for (int i = 0; i < n; i++) d[i] = 0.6 * a[i] + 0.3 * sin(b[(i + 1) % n]) * c[i];"
        " double *t = a; a = b; b = d; d = t; if (s % 5 == 0) { t = a; a = d; d = t; } }",
        "for (int i = 0; i < n; i++) u[i] = a[i] + b[i]; free(a); free(b); free(d);",
    ),
    "integers as state": (
        "int *order = malloc(n * sizeof(int)); unsigned seed = 7; for (int i = 0; i < n; i++) order[i] = (i + 3) % n;",
        "for (int s = 0; s < steps; s++) { seed = seed * 1664525u + 1013904223u; int k = (seed >> 16) % n;"
        " for (int i = 0; i < n; i++) u[order[i]] = 0.8 * u[order[i]] + 0.1 * sin(u[k] * c[i]);"
        " int t = order[0]; order[0] = order[k]; order[k] = t; }",
        "free(order);",
    ),
    "what it reads is overwritten": (
        "double k[64]; for (int i = 0; i < n; i++) k[i] = c[i] * u[i];",
        "for (int s = 0; s < steps; s++) for (int i = 0; i < n; i++) u[i] = 0.9 * u[i] + 0.1 * sin(k[i] * u[(i + 1) % n]);",
        "for (int i = 0; i < n; i++) k[i] = u[i] * u[i]; for (int i = 0; i < n; i++) u[i] += k[(i + 2) % n];",
    ),
    "a carried number": (
        "double last = 0;",
        "for (int s = 0; s < steps; s++) { if (s > 0) u[0] += 0.1 * last; " + STEP + " last = u[1] * u[2]; }",
        "u[3] += last;",
    ),
    "inside another loop": (
        "double k[64]; for (int r = 0; r < 3; r++) { for (int i = 0; i < n; i++) k[i] = c[i] * (r + 1) + 0.1 * u[i];",
        "for (int s = 0; s < steps; s++) for (int i = 0; i < n; i++) u[i] = 0.9 * u[i] + 0.1 * sin(k[i] * u[(i + 1) % n]);",
        "u[0] *= k[1]; }",
    ),
}


def program(before: str, loop: str, after: str, macro: str = "FFGRAD_CHECKPOINT(3);") -> str:
    """One function around a loop; the loop begins at line 8."""
    return f"{HEAD}void run(double *u, const double *c, int n, int steps) {{\n  {before}\n  {macro}\n  {loop}\n  {after}\n}}\n"


def inputs(n: int = 7) -> tuple[np.ndarray, np.ndarray]:
    """Inputs of the programs."""
    random = np.random.default_rng(3)
    return random.normal(size=n), 0.5 + random.random(n)


def gradient(f: Enzyme, u: np.ndarray, c: np.ndarray, steps: int) -> np.ndarray:
    """That of a weighted sum of the results."""
    results, pullback = f.vjp(u, c, steps)
    results = results if isinstance(results, tuple) else (results,)
    weights = [np.asarray(np.linspace(0.5, 1.5, np.size(r)).reshape(np.shape(r))) for r in results]
    given = pullback(weights[0] if len(weights) == 1 else tuple(weights))
    return np.asarray(given[0] if isinstance(given, tuple) else given)


def optimum(steps: int, snapshots: int) -> int:
    """Revolve's t(n, s)."""
    r = next(r for r in range(steps) if steps <= comb(snapshots + r, snapshots)) if snapshots > 1 else steps - 1
    return r * steps - comb(snapshots + r, snapshots + 1) if r else 0


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_gradient_is_that_of_the_loop_without_snapshots(name: str, write: Write) -> None:
    """For no, one, few and many steps."""
    f = enzyme(write(program(*PROGRAMS[name])), "run", SIGNATURE)
    plain = enzyme(write(program(*PROGRAMS[name], macro=""), "plain.c"), "run", SIGNATURE)
    for steps in (1, 2, 3, 30):
        u, c = inputs()
        ours, expected = gradient(f, u, c, steps), gradient(plain, u, c, steps)
        np.testing.assert_allclose(ours, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())


def test_the_steps_are_those_of_revolve(write: Write) -> None:
    """Runs are counted, for the number of steps is known before the loop."""
    text = program("", f"for (int s = 0; s < steps; s++) {{ {STEP} }}", "")
    for snapshots in (1, 2, 5, 20):
        source = write(text.replace("CHECKPOINT(3)", f"CHECKPOINT({snapshots})"), f"s{snapshots}.c")
        f = enzyme(source, "run", SIGNATURE)
        assert f.checkpointing() is None
        for steps in (1, 2, 10, 100, 1000):
            u, c = inputs()
            gradient(f, u, c, steps)
            last = f.checkpointing()
            assert last is not None
            # The state before the last step is kept beside the snapshots until the reverse sweep.
            assert (last["steps"], last["forward"]) == (steps, optimum(steps, snapshots))
            assert last["peak_bytes"] <= (snapshots + 2) * last["state_bytes"]


def test_bits_do_not_depend_on_the_number_of_snapshots(write: Write) -> None:
    """Every state comes from the same code and the state before it."""
    text = WAVE.read_text()
    u, c = inputs(50)
    given = [
        gradient(
            enzyme(write(text.replace("CHECKPOINT(4)", f"CHECKPOINT({s})"), f"w{s}.c"), "wave", WAVE_SIGNATURE),
            u,
            c,
            100,
        )
        for s in (1, 4, 100)
    ]
    assert all(np.array_equal(given[0], other) for other in given)


def test_a_thousand_steps_take_the_memory_of_some(write: Write) -> None:
    """What the tape holds between the sweeps: with ten snapshots, and with the loop as it stands."""
    n, steps = 2000, 1000
    u, c = inputs(n)
    text = WAVE.read_text().replace("CHECKPOINT(4)", "CHECKPOINT(10)")
    f = enzyme(write(text), "wave", WAVE_SIGNATURE)
    gradient(f, u, c, steps)
    last = f.checkpointing()
    assert last is not None
    # Both buffers, and what goes on beside them; a plain reverse sweep keeps more than one of them for each step.
    assert last["state_bytes"] <= 2 * 8 * n + 200
    assert last["peak_bytes"] <= 12 * last["state_bytes"] + 2 * 8 * n < 8 * n * steps / 30


def test_a_gradient_agrees_with_differences_and_with_the_forward_mode() -> None:
    """The dot-product identity, and central differences."""
    f = enzyme(WAVE, "wave", WAVE_SIGNATURE)
    u, c = inputs(9)
    direction = np.random.default_rng(5).normal(size=9)
    reverse = gradient(f, u, c, 60) @ direction
    weights = np.linspace(0.5, 1.5, 9)

    def value(h: float) -> float:
        end, energy = f(u + h * direction, c, 60)
        return float(weights @ end + 0.5 * energy)

    _, (end, energy) = f.jvp((u, c, 60), (direction, None, None))
    assert reverse == pytest.approx(weights @ end + 0.5 * float(energy), rel=1e-12)
    assert reverse == pytest.approx((value(1e-5) - value(-1e-5)) / 2e-5, rel=1e-6)


def test_an_option_names_loops_of_a_source_that_cannot_be_changed(write: Write) -> None:
    """By file and line; one that names no loop says where there are some."""
    text = program("", f"for (int s = 0; s < steps; s++) {{\n    {STEP}\n  }}", "", macro="")
    source = write(text, "model.c")
    f = enzyme(source, "run", SIGNATURE, checkpoint={"model.c:8": 2})
    u, c = inputs()
    expected = gradient(enzyme(source, "run", SIGNATURE), u, c, 40)
    np.testing.assert_allclose(gradient(f, u, c, 40), expected, rtol=1e-12)
    last = f.checkpointing()
    assert last is not None and (last["steps"], last["snapshots"]) == (40, 2)
    for place, told in [
        ("model.c:5", "no loop begins at model.c:5\n  Loops of that file begin at the lines 8, 9."),
        ("other.c:8", "no loop begins at other.c:8\n"),
        ("model.c", "`checkpoint` names `model.c`, which is no file and line"),
    ]:
        with pytest.raises(DifferentiationError) as error:
            enzyme(source, "run", SIGNATURE, checkpoint={place: 2})
        assert told in str(error.value) and error.value.code == "checkpoint"


REFUSALS: dict[str, tuple[str, str, str]] = {
    "it writes output (`printf`)": ("", f'for (int s = 0; s < steps; s++) {{ {STEP} printf("%d", s); }}', ""),
    "it calls `drand48`, and what that does to memory is not known": (
        "",
        f"for (int s = 0; s < steps; s++) {{ {STEP} u[0] += drand48(); }}",
        "",
    ),
    "it frees memory that was allocated before it": (
        "double *p = malloc(8 * n);",
        f"for (int s = 0; s < steps; s++) {{ {STEP} if (s == 3) free(p); }}",
        "",
    ),
    "an address of memory that one iteration allocates goes to the next one": (
        "double *p = 0;",
        f"for (int s = 0; s < steps; s++) {{ {STEP} if (p) u[0] += *p; p = malloc(8); *p = u[1]; }}",
        "",
    ),
    "it uses memory whose address is itself in memory, so that its size is not known": (
        "double **p = malloc(n * sizeof(double *)); for (int i = 0; i < n; i++) { p[i] = malloc(8); *p[i] = u[i]; }",
        "for (int s = 0; s < steps; s++) for (int i = 0; i < n; i++) *p[i] = 0.5 * *p[i] + sin(*p[(i + 1) % n]);",
        "for (int i = 0; i < n; i++) u[i] = *p[i];",
    ),
    "it stands in another loop that is to be checkpointed, or has one inside": (
        "",
        f"for (int s = 0; s < steps; s++) {{ FFGRAD_CHECKPOINT(2);\n {STEP} }}",
        "",
    ),
    "no loop follows FFGRAD_CHECKPOINT": ("", f"if (steps > 3) {STEP}", ""),
}


def refusal(source: Path, **options: Any) -> DifferentiationError:
    """The error of a gradient, or of opening."""
    with pytest.raises(DifferentiationError) as error:
        gradient(enzyme(source, "run", SIGNATURE, **options), *inputs(), 5)
    return error.value


@pytest.mark.parametrize("told", REFUSALS)
def test_a_loop_that_cannot_be_outlined_is_refused_with_its_line_and_the_reason(told: str, write: Write) -> None:
    """Never a gradient that might be wrong."""
    error = refusal(write(program(*REFUSALS[told]), "model.c"))
    assert told in str(error) and error.code == "checkpoint"
    assert "model.c:" in str(error)


def test_no_snapshot_is_none(write: Write) -> None:
    """Of the macro, the option, and of a loop over steps."""
    loop = f"for (int s = 0; s < steps; s++) {{ {STEP} }}"
    macro = write(program("", loop, "", macro="FFGRAD_CHECKPOINT(0);"))
    assert "FFGRAD_CHECKPOINT(0) keeps no snapshot" in str(refusal(macro))
    plain = write(program("", loop, "", macro=""), "plain.c")
    assert "keeps no snapshot for the loop at plain.c:8" in str(refusal(plain, checkpoint={"plain.c:8": 0}))
    with pytest.raises(SignatureError, match="snapshots=0 keeps no state to start from"):
        enzyme(plain, "run", "u[n], const c[n] -> u[n]", repeat="t", snapshots=0)


def test_the_size_of_each_array_must_be_known(write: Write) -> None:
    """From numbers and integer parameters."""
    text = (
        HEAD + "void run(double *u) {\n FFGRAD_CHECKPOINT(2);\n for (int s = 0; s < 9; s++) u[s % 3] *= sin(u[1]);\n}\n"
    )
    with pytest.raises(DifferentiationError, match=r"the function does not know the size of `u\[n\]`"):
        f = enzyme(write(text), "run", "u[n] -> u[n]")
        f.vjp(np.ones(3))[1](np.ones(3))
    f = enzyme(write(text), "run", "u[3] -> u[3]")
    f.vjp(np.ones(3))[1](np.ones(3))
    assert f.checkpointing() is not None
