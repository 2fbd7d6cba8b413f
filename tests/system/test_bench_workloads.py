"""The benchmark's competitors are right: gradients by hand against finite differences, all others against these.

Also the harness itself: samples, ratios, the report. Neighbours: ``../../benches``.
"""

from __future__ import annotations

import dataclasses
import itertools
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

BENCHES = Path(__file__).resolve().parents[2] / "benches"
sys.path.insert(0, str(BENCHES))

import raw_engine  # noqa: E402
from harness import columns, native, report, timing  # noqa: E402
from harness.problem import Problem, Skipped, all_problems  # noqa: E402
from measure import difference  # noqa: E402

LARGE = ("1e6", "d64")  # the same code as the small ones
ROWS = [p for p in all_problems(quick=True) if not any(part in p.name for part in LARGE)]
PROBLEMS = [p for p in ROWS if isinstance(p, Problem) and p.group == "suite"]
ABSENT = [p for p in ROWS if isinstance(p, Skipped)]


@pytest.fixture(autouse=True)
def _needs_clang() -> None:
    try:
        raw_engine.clang()
    except raw_engine.MissingTool as error:
        pytest.skip(str(error))


@pytest.fixture(autouse=True)
def _work_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FFGRAD_BENCH_DIR", str(tmp_path_factory.getbasetemp() / "bench"))


def by_name(problem: Problem) -> str:
    return problem.name


def objective(problem: Problem) -> float:
    """<cotangent, outputs>, from the compiled C."""
    bound = native.hand(problem, "hand")
    value = bound.primal()
    if "return" in problem.cotangents:
        return float(value)
    return sum(float(np.vdot(bound.outputs[k].astype(np.float64), v)) for k, v in problem.cotangents.items())


def moved(problem: Problem, direction: dict[str, np.ndarray], step: float) -> Problem:
    inputs = dict(problem.inputs)
    for name, t in direction.items():
        inputs[name] = np.asarray(inputs[name] + step * t, dtype=inputs[name].dtype)
    return dataclasses.replace(problem, inputs=inputs)


@pytest.mark.parametrize("problem", PROBLEMS, ids=by_name)
def test_gradient_by_hand_agrees_with_finite_differences(problem: Problem) -> None:
    rng = np.random.default_rng(1)
    gradients = dict(zip(problem.wrt, columns.make("hand", problem).result(), strict=True))
    single = problem.tolerance > 1e-4
    for name in problem.wrt:
        t = rng.normal(size=np.shape(problem.inputs[name])) * np.maximum(np.abs(problem.inputs[name]), 0.1)
        step = 1e-2 if single else 1e-6
        ends = [objective(moved(problem, {name: t}, sign * step)) for sign in (1.0, -1.0)]
        expected = (ends[0] - ends[1]) / (2.0 * step)
        scale = np.linalg.norm(gradients[name]) * np.linalg.norm(t)
        assert abs(np.vdot(gradients[name], t) - expected) <= (2e-3 if single else 1e-6) * scale, name


@pytest.mark.parametrize("variant", ["hand-fast", "hand-vec"])
@pytest.mark.parametrize("problem", PROBLEMS, ids=by_name)
def test_faster_gradients_by_hand_are_the_same_gradients(problem: Problem, variant: str) -> None:
    result = columns.make(variant, problem).result()
    assert difference(result, columns.make("hand", problem).result()) <= problem.tolerance


@pytest.mark.parametrize("problem", PROBLEMS, ids=by_name)
def test_ffgrad_agrees_with_the_gradient_by_hand(problem: Problem) -> None:
    result = columns.make("ffgrad", problem).result()
    assert difference(result, columns.make("hand", problem).result()) <= problem.tolerance


@pytest.mark.parametrize("problem", PROBLEMS, ids=by_name)
def test_pytorch_version_agrees_with_the_gradient_by_hand(problem: Problem) -> None:
    result = columns.make("eager", problem).result()
    assert difference(result, columns.make("hand", problem).result()) <= problem.tolerance


@pytest.mark.parametrize("problem", PROBLEMS, ids=by_name)
def test_jax_version_agrees_with_the_gradient_by_hand(problem: Problem) -> None:
    pytest.importorskip("jaxlib", reason="JAX is installed by `make bench` only")
    result = columns.make("jax", problem).result()
    assert difference(result, columns.make("hand", problem).result()) <= problem.tolerance


@pytest.mark.parametrize("row", ABSENT or [None], ids=lambda row: row.name if row else "all present")
def test_rows_without_data_say_so(row: Skipped | None) -> None:
    if row is not None:
        assert row.reason
        pytest.skip(row.reason)


def test_every_workload_is_complete() -> None:
    for folder in sorted(p for p in (BENCHES / "workloads").iterdir() if p.is_dir() and p.name != "__pycache__"):
        assert (folder / "bench.py").is_file(), folder.name
        for stem in ("hand", "raw"):
            assert len(list(folder.glob(f"{stem}.c*"))) == 1, f"{folder.name}: {stem}"


def test_an_option_that_ffgrad_refuses_is_a_reason_not_a_failure() -> None:
    with pytest.raises(columns.Unavailable, match="no_such_option"):
        columns.make("ffgrad:no_such_option=True", PROBLEMS[0])


def test_enzyme_alone_is_refused_where_it_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FFGRAD_TOOLS_DIR", str(tmp_path))
    with pytest.raises(raw_engine.MissingTool, match="catalyst"):
        raw_engine.catalyst()


def test_samples_interleave_and_slow_competitors_sit_out() -> None:
    order: list[str] = []

    def fast() -> None:
        order.append("fast")

    def slow() -> None:
        order.append("slow")
        end = time.process_time() + 0.02
        while time.process_time() < end:
            pass

    times = timing.interleave({"fast": fast, "slow": slow}, timing.Effort(rounds=6, sample=0.001, budget=0.06))
    assert [t is None for t in times["slow"].rounds] == [False, True] * 3
    assert all(t is not None for t in times["fast"].rounds)
    assert times["slow"].median >= 0.02
    assert timing.ratio(times["slow"], times["fast"]) > 10
    runs = [name for name, _ in itertools.groupby(order)]
    assert runs.count("slow") >= 4


def entry(seconds: float, **more: Any) -> dict[str, Any]:
    return {"gradient": {"median": seconds}, "note": "", "over_hand": seconds, "first": 0.0, **more}


def test_report_leaves_wrong_gradients_out_of_the_means() -> None:
    rows = [
        {"columns": {"hand-fast": entry(1.0), "ffgrad": entry(2.0), "raw": entry(0.1, wrong=True, error=0.5)}},
        {"columns": {"hand-fast": entry(1.0), "ffgrad": entry(8.0), "raw": entry(3.0, wrong=False)}},
    ]
    for number, row in enumerate(rows):
        row |= {"name": f"row {number}", "group": "suite", "skipped": {"jax": "jax is not installed"}}
    assert report.mean_over(rows, "ffgrad", "hand-fast") == (pytest.approx(4.0), 2)
    assert report.mean_over(rows, "raw", "hand-fast") == (pytest.approx(3.0), 1)
    machine = {"date": "2026-01-01", "cpu": "x", "cores": 1, "memory": "", "system": "", "load": 0.0, "commit": ""}
    whole = {"machine": {**machine, "versions": {}}, "command": "", "seconds": 1.0, "quick": False, "skipped": []}
    text = report.markdown({**whole, "rows": rows, "memory": []})
    assert "0.10 (wrong)" in text
    assert "column `jax`: jax is not installed (row 0, row 1)" in text
    assert "its gradient is wrong, by 5.0e-01" in text


def test_clang_of_the_tools_folder_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FFGRAD_TOOLS_DIR", str(tmp_path))
    ours = tmp_path / "llvm-22.1.8" / "bin" / "clang"
    ours.parent.mkdir(parents=True)
    shutil.copy("/bin/true", ours)
    assert raw_engine.clang() == ours
