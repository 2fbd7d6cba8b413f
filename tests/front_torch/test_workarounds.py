"""Each workaround of the pass table is needed: without it its program is wrong, refused, or dies.

With the pass off and ``verify="off"``, on the first pipeline, at several points. A child process runs each program, because a
wrong derivative may crash. A pass whose program becomes right can go: an upgrade of Enzyme or LLVM shows here.

    python tests/front_torch/test_workarounds.py PASS PROGRAM     one program, with its verdict
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ffgrad.numpy
import numpy as np
import pytest
from ffgrad.errors import DifferentiationError

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from support import loader  # noqa: E402
from torture.generators import generator, gradients  # noqa: E402
from torture.generators.hyperdual import Reference  # noqa: E402

# Cases of the conformance tables, and programs of tests/cases/enzyme_bugs: those that need the pass.
NEEDED = {
    "closed-functions": ("machine_constants",),
    "own-blas": ("blas_from_source",),
    "union-members": ("union_nodes",),
    "overlapping-moves": ("queue_front",),
    "static-locals": ("kept_objects",),
    "lower-exceptions": ("caught_number", "caught_message", "rethrown", "retried", "library_throws"),
    "stable-tanh": ("saturated_tanh_generated", "limited_tanh_generated"),
    "extend-lifetimes": ("rule_recursion",),
    "wrap-stack-arrays": ("rows_on_stack_generated",),
    "split-select-loads": ("chosen_array",),
    "undefined-phis": ("interval_splits",),
    "split-switch-edges": ("empty_switch_cases_generated",),
    "pair-predecessors": ("skipped_break_generated",),
    "opaque-latch": ("last_break",),
    "loop-carried": ("loop_carried",),
    "lagged-phi": ("lagged_phi",),
    "mixed-activity": ("mixed_struct", "mixed_table", "shared_tables"),
    "compared-arguments": ("status_outputs",),
    "inactive-globals": ("shared_tables",),
    "written-globals": (
        "callback_parameter",
        "static_work",
        "static_memo",
        "parameters_by_pointer",
        "work_by_pointer",
    ),
    "variable-types": ("cleared_rows",),
    "copy-elements": ("merged_indices",),
    "mixed-words": ("tagged_values",),
    "tagged-copies": ("tagged_copies",),
    "opaque-addresses": ("list_sort",),
    "opaque-objects": ("classes", "closures"),
    "container-counts": ("linked_containers",),
    "container-headers": ("tree_and_vector",),
    "tree-erase": ("linked_containers",),
    "member-copies": ("record_members",),
    "struct-copies": ("records",),
    "copy-sizes": ("records",),
    "moving-addresses": ("strided_iterator",),
    "copy-types": ("vector_stack", "vector_intervals"),
    "exit-values": ("quick_one_recursion", "nth_element"),
    "dynamic-arrays": ("scratch_of_rows",),
    "wide-counters": ("wide_counters",),
    "sibling-addresses": ("loops_of_branches",),
    "cross-iteration": ("slots", "stack", "quick_stack"),
    "keep-rolled": ("sums_of_nests",),
    "distinct-addresses": ("equal_addresses_generated", "trailing_writes", "leading_writes"),
    "drop-attributes": ("null_cache_generated",),
    "quotient-tangents": ("backward_recurrence",),
    "no-gathers": ("stores_below_gather_generated", "masked_gather_generated"),
}

# Passes that make a program right too, by moving what the pass is about: they are left out with it.
HIDDEN_BY = {"split-switch-edges": ["keep-results"], "closed-functions": ["written-globals"]}

# No program of the repository is wrong without these today; why they stay.
UNPROVEN = {
    "large-arrays": "right without it, after a minute and more: tests/front_numpy/test_numpy_large_locals.py",
    "nan-roots": "its program is not-a-number, which differences do not judge: tests/front_numpy/test_numpy_nan.py",
    "integer-arithmetic": "of `cases` none; `std::weak_ptr::lock` is refused without it: std_observers and std_scene_graph, which tests/real has",
    "keep-loops": "no program of ours: without it LSODA is refused for the memset that clears `rwork`; with it for something else",
    "recursive-destructors": "right without it since destructors are dispatched by other types: its program, owned lists, chains and graphs of expressions",
    "merged-values": "Enzyme takes minutes for `many_branches` without it: tests/system/test_lean_ir.py has a time limit",
    "distant-exits": "Enzyme takes minutes for `early_break` without it: tests/system/test_lean_ir.py has a time limit",
    "two-entries": "the reverse pass of `jump_into_loop` does not end without it, and this test has no limit short enough",
    "outline-memcpy": "its programs are right without it since unreachable code is dropped first: Enzyme moves another call",
    "expand-shared-memcpy": "a race of threads, wrong now and then: 22 OpenMP cases are right without it",
    "activate-phi-memory": "27 programs are right without it: `keep_stores_apart` stops LLVM from making such pointers",
    "bit-tests": "Enzyme takes simple tests of bits; it refuses boost::math::tools::toms748_solve, which tests/real has",
    "text-functions": "Enzyme takes simple copies of text; it refuses SLATEC's xermsg, where a routine that calls it is inlined",
    "reallocations": "Enzyme takes `realloc` of blocks that it sees allocated; it refuses Eigen's permutations, which tests/real has",
    "pointer-counts": "of second derivatives, which this test does not take: without it gradgradcheck[address_loop] is refused",
    "pointer-differences": "Enzyme takes simple loops over distances; it refuses xtensor's containers of sizes, which tests/real has",
    "opaque-tables": "type analysis of `named_rates` does not end without it: tests/system/test_lean_ir.py has a time limit",
    "cleared-members": "Eigen's filters and attention, which tests/real has, were refused without it; their products are loops now",
    "thread-addresses": "of the first call in a thread: test_the_first_call_of_a_thread_is_right",
    "zero-stores": "without it the pipeline `apart` takes the program: tests/system/test_lean_ir.py",
    "capture-phi-memory": "27 programs are right without it with the present Enzyme",
}

SEEDS = 4


def verdict(pass_off: str | None, program: str) -> str:
    """Judge a program in a child process: a verdict of ``gradients.py``, or ``died``.

    Parameters
    ----------
    pass_off : str or None
        The pass that is left out.
    program : str
        A case of the conformance table, or a program of ``tests/cases/enzyme_bugs``.
    """
    command = [sys.executable, str(Path(__file__).resolve()), pass_off or "-", program]
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "FFGRAD_CACHE_DIR": cache}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600, check=False)
    if done.returncode < 0:
        return "died"
    assert done.returncode == 0, done.stderr
    return str(json.loads(done.stdout.splitlines()[-1])["kind"])


def table() -> dict[str, list[str]]:
    """Return the passes as ``ffgrad show --passes`` prints them, each with its lines."""
    done = subprocess.run(
        [ROOT / "target/release/ffgrad", "show", "--passes"], capture_output=True, text=True, check=True
    )
    passes: dict[str, list[str]] = {}
    for line in done.stdout.splitlines():
        if line.startswith("      "):
            passes[next(reversed(passes))].append(line.strip())
        elif line.startswith("  "):
            passes[line.strip()] = []
    return passes


def has_avx512() -> bool:
    """Whether LLVM would use vector gathers on this CPU, and 32 vector registers."""
    try:
        return "avx512f" in Path("/proc/cpuinfo").read_text()
    except OSError:
        return False


# The first program of each pass, or all with FFGRAD_FULL=1.
JUDGED = [
    (name, program)
    for name, all_of in NEEDED.items()
    for program in all_of[: None if os.environ.get("FFGRAD_FULL") else 1]
]


@pytest.mark.parametrize(("name", "program"), JUDGED)
def test_without_a_workaround_its_program_is_wrong_or_refused(name: str, program: str) -> None:
    if name == "no-gathers" and not has_avx512():
        pytest.skip("this CPU has no AVX-512: LLVM uses no gathers")
    assert verdict(name, program) in ("wrong", "refused", "overflowed", "died"), f"{program} is right without {name}"


@pytest.mark.parametrize("program", sorted({program for _, program in JUDGED}))
def test_with_all_workarounds_the_program_is_right(program: str) -> None:
    assert verdict(None, program) == "right"


def test_the_first_call_of_a_thread_is_right() -> None:
    name = "first_use_of_thread_local"
    source = ROOT / f"tests/cases/enzyme_bugs/{name}.c"
    function = ffgrad.numpy.enzyme(source, name, "x -> return")
    results = []
    for _ in range(3):
        thread = threading.Thread(target=lambda: results.append((function(1.3), function.grad(1.3))))
        thread.start()
        thread.join()
    assert len(results) == 3 and results == results[:1] * 3
    if has_avx512():
        with pytest.raises(DifferentiationError, match="earlier calls"):
            ffgrad.numpy.enzyme(source, name, "x -> return", without=["thread-addresses"]).grad(1.3)


def test_every_workaround_of_the_table_has_a_program_or_a_reason() -> None:
    passes = table()
    workarounds = {name for name, lines in passes.items() if any(line.startswith("upstream:") for line in lines)}
    assert workarounds == NEEDED.keys() | UNPROVEN.keys()
    assert not NEEDED.keys() & UNPROVEN.keys()
    for name, programs in NEEDED.items():
        test = Path(passes[name][-1].rsplit("tests/", 1)[1]).stem
        assert test in programs, f"{name}: the table names {test}"


def _judge_case(name: str, off: list[str]) -> str:
    """Compare vjp and jvp of a conformance case with finite differences, at several points."""
    from ffgrad.numpy import enzyme

    tables = (loader.TABLE, loader.FOLDER / "fortran" / "cases.toml")
    cases = (case for table in tables for case in loader.load_cases(table))
    case = next(case for case in cases if name in (case.name, case.sources[0].stem))
    f = enzyme(
        case.source, case.function, case.signature, verify="off", without=off, pipeline="inlined", **case.options
    )
    return "right" if all(_agrees(f, case, seed) for seed in range(SEEDS)) else "wrong"


def _agrees(f: Callable[..., Any], case: loader.Case, seed: int) -> bool:
    rng = np.random.default_rng(seed)
    inputs = case.make_inputs(seed)
    value, pull = f.vjp(*[i.copy() for i in inputs])  # type: ignore[attr-defined]
    several = value if isinstance(value, tuple) else (value,)
    weights = [rng.standard_normal(np.shape(v)).astype(np.asarray(v).dtype) for v in several]
    adjoints = pull(tuple(weights) if isinstance(value, tuple) else weights[0])
    tangents = [
        rng.standard_normal(i.shape).astype(i.dtype) if item.differentiable else None
        for item, i in zip(case.inputs, inputs, strict=True)
    ]
    _, along = f.jvp(tuple(inputs), tuple(tangents))  # type: ignore[attr-defined]

    def weighed(values: Any) -> float:
        values = values if isinstance(values, tuple) else (values,)
        return sum(float(np.sum(np.float64(w) * np.float64(v))) for w, v in zip(weights, values, strict=True))

    def moved(step: float) -> float:
        return weighed(
            f(*[i if t is None else (i + step * t).astype(i.dtype) for i, t in zip(inputs, tangents, strict=True)])
        )

    step = case.tolerance.step
    expected = (moved(step) - moved(-step)) / (2 * step)
    reverse = sum(
        float(np.sum(np.float64(a) * np.float64(t))) for a, t in zip(adjoints, tangents, strict=True) if t is not None
    )
    limit = 10 * case.tolerance.gradient * max(1.0, abs(expected))
    # Not-a-number agrees with nothing.
    return bool(abs(reverse - expected) <= limit and abs(weighed(along) - expected) <= limit)


def _judge(name: str, off: list[str]) -> str:
    import ffgrad

    if name.endswith("_generated"):
        text = (ROOT / "tests/cases/enzyme_bugs" / f"{name}.c").read_text()
        found = next(program for program in generator.found() if program.text == text)
        folder = Path(os.environ["FFGRAD_CACHE_DIR"])
        reference = Reference([found], folder)
        return gradients.judge(found, reference, folder, pipeline="inlined", verify="off", without=off).kind
    try:
        return _judge_case(name, off)
    except (ffgrad.CompileError, ffgrad.DifferentiationError, ffgrad.ForeignError):
        # An exception whose handler was lost counts, too, and a derivative that calls what nobody links.
        return "refused"


def _judge_apart(name: str, off: list[str]) -> tuple[str, set[str]]:
    """Judge in a cache of its own: the verdict, and the pipelines of what was built."""
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        os.environ["FFGRAD_CACHE_DIR"] = folder
        kind = _judge(name, off)
        made = [json.loads(path.read_text()) for path in Path(folder).glob("v*/**/artifact.json")]
    return kind, {record["pipeline"] for record in made}


def _verdict(name: str, off: list[str]) -> str:
    """Judge a program; one that is right by other pipelines than with the pass was refused by those."""
    kind, pipelines = _judge_apart(name, off)
    if off and kind == "right" and pipelines != _judge_apart(name, [])[1]:
        return "refused"
    return kind


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    CACHE = os.environ.setdefault("FFGRAD_CACHE_DIR", tempfile.mkdtemp())
    off = [] if sys.argv[1] == "-" else [sys.argv[1], *HIDDEN_BY.get(sys.argv[1], [])]
    kind = _verdict(sys.argv[2], off)
    print(json.dumps({"pass": sys.argv[1], "program": sys.argv[2], "kind": kind}))
