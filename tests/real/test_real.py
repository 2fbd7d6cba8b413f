"""Programs that use real libraries are right, or refused in seconds with a text that names the way out.

The table is ``programs.toml``; ``support/real_programs.py`` says what its keys mean and compares. Two programs run at a time, each in a
process of its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from support.real_programs import Outcome, Program, load_programs, outcome_of

PROGRAMS = load_programs()
IDENTITY = 1e-9

# A program waits for those before it.
pytestmark = pytest.mark.timeout(1200)

Pending = dict[str, "Future[Outcome]"]


@pytest.fixture(scope="module")
def pending(request: pytest.FixtureRequest) -> Iterator[Pending]:
    """Start all programs that were selected and can run."""
    wanted = {item.callspec.params["program"].name for item in request.session.items if hasattr(item, "callspec")}
    # Both cores of a small machine are busy with two: compilers and Enzyme run on one thread.
    with ThreadPoolExecutor(max_workers=min(2, os.cpu_count() or 1)) as pool:
        chosen = [p for p in PROGRAMS if p.name in wanted and not p.library.missing()]
        started = {p.name: pool.submit(outcome_of, p) for p in chosen}
        yield started
        pool.shutdown(wait=False, cancel_futures=True)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_a_program_is_right_or_refused_with_a_way_out(program: Program, pending: Pending) -> None:
    if missing := program.library.missing():
        if "real" in os.environ.get("FFGRAD_REQUIRE", "").split():
            pytest.fail(missing)
        pytest.skip(missing)
    outcome = pending[program.name].result()
    if program.expected == "refused":
        assert outcome.verdict != "derivatives", f"no longer refused: say so in programs.toml ({program.reason})"
        assert outcome.verdict == "refused", outcome.message
        assert outcome.code == (program.code or outcome.code), outcome.message
        assert outcome.hints, outcome.message
    else:
        assert outcome.verdict == "derivatives", outcome.message
        for point, errors in enumerate(outcome.errors):
            assert errors.differences <= program.tolerance, f"point {point}: {errors.parts}"
            assert errors.identity <= IDENTITY, f"point {point}"
    assert outcome.cpu <= program.cpu_limit, f"{outcome.cpu:.0f} s of CPU time"


def test_the_table_has_programs_enough() -> None:
    right = [p for p in PROGRAMS if p.expected == "right"]
    assert len(PROGRAMS) >= 44 and len(right) >= 36
    assert {p.path.name for p in PROGRAMS} == {path.name for path in PROGRAMS[0].path.parent.iterdir()}


def test_the_page_has_every_program_and_its_result() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs/reference/real-code.md").read_text()
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| [")]
    results = {row[0].split("]")[0].removeprefix("| ["): row[3].split(":")[0] for row in rows}
    assert results == {p.name: p.expected for p in PROGRAMS}, "run scripts/real_table.py"
