"""What Enzyme is given holds no debug information and nothing that the function does not reach; time limits count what a build uses."""

from __future__ import annotations

import json
import logging
import os
import warnings
from pathlib import Path

import ffgrad
import pytest
import torch
from ffgrad.torch import enzyme
from support.fixtures import Write
from system.test_engine_messages import CUBE, refusal, stand_in
from torture.faults.races import real_engine

ROOT = Path(__file__).resolve().parents[1]

WITH_HEADERS = """
#include <iostream>
#include <map>
#include <regex>
#include <string>
#include <vector>

double unrelated(const std::string &text) {
    return std::regex_match(text, std::regex("[a-z]+")) ? 1.0 : std::map<int, double>{{1, 2.0}}[1];
}

extern "C" double squares(const double *x, long n) {
    std::vector<double> all;
    for (long i = 0; i < n; ++i) all.push_back(x[i] * x[i]);
    double total = 0;
    for (double each : all) total += each;
    return total;
}
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("FFGRAD_CACHE_DIR", str(folder))
    return folder


def gradient(source: Path, function: str, signature: str, **options: object) -> torch.Tensor:
    """Return the gradient of a sum of squares at 1, 2, 3."""
    x = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
    f = enzyme(source, function, signature, **options)  # type: ignore[arg-type]
    f.apply(x).sum().backward()
    assert x.grad is not None
    return x.grad


def test_enzyme_sees_no_debug_information_and_no_unreachable_function(cache: Path, write: Write) -> None:
    """Headers that the function does not use cost it nothing."""
    grad = gradient(write(WITH_HEADERS, "squares.cpp"), "squares", "x[n] -> return")
    assert grad.tolist() == [2.0, 4.0, 6.0]
    (before,) = cache.rglob("before.ll")
    text = before.read_text()
    for part in ["#dbg_", "!dbg ", "!DILocation", "!DISubprogram", "!llvm.dbg.cu", "unrelated", "regex"]:
        assert part not in text, part
    assert len(text) < 100_000


def test_numbers_that_go_through_text_are_constants(cache: Path) -> None:
    """`snprintf` and `strtod` carry no derivative: y = rounded(x) x has dy/dx = rounded(x)."""
    grad = gradient(ROOT / "cases/memory/parsed_text.c", "tidy", "x[n] -> y[n]")
    assert torch.equal(grad, torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64))


def pipelines(cache: Path) -> set[str]:
    """Return the pipelines of the derivatives in a cache."""
    made = [json.loads(path.read_text())["pipeline"] for path in cache.rglob("artifact.json")]
    return {pipeline for pipeline in made if pipeline}


def test_members_that_are_cleared_together_keep_their_types(cache: Path) -> None:
    """LLVM joins their stores to a memset without a type; without both passes only a later pipeline takes the function."""
    source = ROOT / "cases/enzyme_bugs/zeroed_members.cpp"
    with warnings.catch_warnings():
        warnings.simplefilter("error", ffgrad.GradientWarning)
        assert gradient(source, "zeroed_members", "x[n] -> return").tolist() == [2.0, 4.0, 6.0]
    gradient(source, "zeroed_members", "x[n] -> return", without=["zero-stores", "cleared-members"])
    assert pipelines(cache) == {"inlined", "apart"}


def test_type_analysis_of_trees_at_file_scope_ends(cache: Path) -> None:
    """Their headers are as large as no node is: without the pass every pipeline reaches the limit.

    Of this program `cross-iteration` moves what is merged with the header, so the pass is alone only without it.
    """
    source = ROOT / "cases/enzyme_bugs/named_rates.cpp"
    assert len(gradient(source, "named_rates", "x[n] -> y[n]", without=["cross-iteration"])) == 3
    with pytest.raises(ffgrad.DifferentiationError) as refused:
        gradient(source, "named_rates", "x[n] -> y[n]", without=["opaque-tables", "cross-iteration"], timeout=10)
    assert refused.value.code == "engine-timeout"


@pytest.mark.parametrize(
    ("needed", "program", "signature"),
    [
        ("merged-values", "many_branches", "x[n] -> return"),
        ("distant-exits", "early_break", "x[5], y[3] -> y[3], last"),
    ],
)
def test_branches_in_loops_do_not_multiply_the_time(cache: Path, needed: str, program: str, signature: str) -> None:
    """Without the pass Enzyme follows exponentially many paths through the loop."""
    source = ROOT / f"cases/enzyme_bugs/{program}.c"
    x = torch.linspace(0.2, 0.9, 5, dtype=torch.float64, requires_grad=True)
    y = torch.linspace(0.3, 0.7, 3, dtype=torch.float64)

    def differentiate(without: list[str]) -> None:
        f = enzyme(source, program, signature, without=without, pipeline="inlined", timeout=10)
        result = f(x) if program == "many_branches" else f(x, y)
        (result[1] if isinstance(result, tuple) else result).backward()

    differentiate([])
    with pytest.raises(ffgrad.DifferentiationError) as refused:
        differentiate([needed])
    assert refused.value.code == "engine-timeout"


def test_a_limit_holds_for_all_pipelines_together(
    cache: Path, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each run stays below the limit. Once they reach it together no further pipeline is tried, and the error says so."""
    runs = tmp_path / "runs"
    does = f"echo run >> {runs}; sleep 1.5; echo 'something new' >&2; exit 1"
    monkeypatch.setenv("FFGRAD_CATALYST", stand_in(tmp_path, does))
    error = refusal(write(CUBE), "cube", timeout=2)
    assert error.code == "engine-refused"
    assert "pipelines were not tried" in str(error) and "timeout=8" in str(error)
    # Two of the search; one that locates the refusal, and one for its full output.
    assert runs.read_text().count("run") <= 4


def test_a_child_that_computes_is_ended_at_the_limit(
    cache: Path, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CPU time counts, that of grandchildren too."""
    monkeypatch.setenv("FFGRAD_CATALYST", stand_in(tmp_path, "sh -c 'while :; do :; done'"))
    assert refusal(write(CUBE), "cube", timeout=2).code == "engine-timeout"


def test_a_build_of_more_than_two_seconds_says_once_what_it_is_at(
    cache: Path, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """On no terminal it is one line of Python's logging."""
    monkeypatch.setenv("FFGRAD_CATALYST", stand_in(tmp_path, f'sleep 3; exec "{real_engine()}" "$@"'))
    x = torch.linspace(0.5, 1.5, 4, dtype=torch.float64, requires_grad=True)
    f = enzyme(write(CUBE), "cube", "x[n] -> y[n]")
    with caplog.at_level(logging.INFO, logger="ffgrad"):
        f.apply(x).sum().backward()
    if os.isatty(2):
        pytest.skip("standard error is a terminal: the line is drawn there")
    said = [record.getMessage() for record in caplog.records if record.name == "ffgrad"]
    assert said == ["gradient of `cube`: pipeline inlined: differentiating"]
