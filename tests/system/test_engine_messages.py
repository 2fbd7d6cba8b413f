"""Errors about what Enzyme refuses name the construct, the user's line, the reason and a remedy.

Each source of ``../cases/negative`` provokes one message of Enzyme; the table of all known ones, with logs for those
that no source here provokes, is ``core-ad/src/diagnostics/messages.rs``.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import ffgrad
import pytest
import torch
from ffgrad.torch import enzyme
from support.fixtures import Write
from support.goldens import NEGATIVE, Golden
from torture.faults.races import real_engine

# Golden -> file, function, code, the line that the error names.
REFUSED = {
    "engine_atomic": ("atomic_update.c", "swap_in", "atomic-update", 5),
    "engine_builtin": ("builtin.c", "canonical", "unknown-builtin", 3),
    "engine_bits": ("bit_tricks.c", "flip", "bit-arithmetic", 9),
    "engine_alternatives": ("alternatives.cpp", "mixture", "unproven-gradient", 8),
    "engine_callees": ("outside_functions.c", "through_table", "missing-derivative", 10),
    "engine_threads": ("own_threads.c", "squares", "threads", 20),
    "engine_tasks": ("own_tasks.cpp", "halves", "threads", 9),
    "engine_variadic": ("variadic.c", "mix", "variadic-call", 14),
}


def refusal(file: str | Path, function: str, **options: object) -> ffgrad.DifferentiationError:
    """Differentiate a source of ``cases/negative``, and return the refusal."""
    with pytest.raises(ffgrad.DifferentiationError) as caught:
        flags = ["-std=c++23"] if str(file).endswith(".cpp") else []
        f = enzyme(NEGATIVE / file, function, "x[n] -> y[n]", flags=flags, **options)  # type: ignore[arg-type]
        f.apply(torch.linspace(0.5, 1.5, 4, dtype=torch.float64, requires_grad=True)).sum().backward()
    assert caught.value.function == function and caught.value.hints
    return caught.value


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_names_construct_line_reason_and_remedy(name: str, golden: Golden) -> None:
    """All of it, as a golden."""
    file, function, code, line = REFUSED[name]
    error = refusal(file, function)
    assert error.code == code
    assert error.file is not None and Path(error.file).name == file and error.line == line
    golden(name, error)


def test_a_construct_in_a_librarys_header_is_located_by_the_users_line() -> None:
    """With the header's line beside it, and the calls that lead there."""
    text = str(refusal("alternatives.cpp", "mixture"))
    assert "alternatives.cpp:8" in text and "items[i];" in text
    assert re.search(r"inside \S+\.h:?\d*", text)
    assert "called at alternatives.cpp:18" in text


def test_a_crash_without_a_place_is_located_by_bisection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    """Enzyme names nothing; the error has function, file and line, and says how they were found."""
    module, words = tmp_path / "module.ll", tmp_path / "words"
    words.write_text('Instruction.cpp:170: Assertion `!isa<PHINode>(this) && "Inserting a PHI!"\' failed.\n')
    crash = f"if grep -q 'call.*realloc' {module}; then cat {words} >&2; kill -ABRT $$; fi"
    does = f'cat > {module}; {crash}; exec "{real_engine()}" "$@" < {module}'
    monkeypatch.setenv("FFGRAD_CATALYST", stand_in(tmp_path, does))
    error = refusal("growing.c", "running_sums")
    assert error.code == "realloc" and error.line == 5
    assert "found by bisection" in str(error) and "called at growing.c:13" in str(error)
    golden("engine_crash", error)


def stand_in(folder: Path, does: str) -> str:
    """Return a stand-in for Enzyme that does something else than differentiate."""
    engine = folder / "engine"
    engine.write_text(f'#!/bin/sh\ncase "$*" in *llc*) {does};; esac\nexec "{real_engine()}" "$@"\n')
    engine.chmod(0o755)
    return str(engine)


CUBE = "void cube(const double* x, int n, double* y) { for (int i = 0; i < n; i++) y[i] = x[i] * x[i] * x[i]; }\n"


def test_a_crash_that_no_call_explains_is_located_by_its_function(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    """The last function that Enzyme printed; else the one that was to be differentiated."""
    module = tmp_path / "module.ll"
    # A stand-in that crashes at every module would count as damaged.
    crash = f"if grep -q cube {module}; then kill -SEGV $$; fi"
    does = f'cat > {module}; {crash}; exec "{real_engine()}" "$@" < {module}'
    monkeypatch.setenv("FFGRAD_CATALYST", stand_in(tmp_path, does))
    error = refusal(write(CUBE), "cube")
    assert error.code == "engine-crash" and error.line == 1
    golden("engine_crash_anywhere", error)


def test_unknown_words_are_shown_whole_with_the_folder_that_is_kept(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    """Nothing is swallowed: words in the error, everything in the folder; one folder however often it fails."""
    does = "echo 'words that nobody has heard'; echo 'and more of them' >&2; echo 'at the end' >&2; exit 7"
    monkeypatch.setenv("FFGRAD_CATALYST", stand_in(tmp_path, does))
    source = write(CUBE)
    kept = set()
    for _ in range(2):
        error = refusal(source, "cube")
        assert error.code == "engine-refused"
        assert "and more of them" in str(error) and "at the end" in str(error)
        folder = Path(str(error.kept))
        assert "and more of them" in (folder / "engine.log").read_text()
        assert "define" in (folder / "before.ll").read_text()
        kept.add(folder)
    assert len(kept) == 1
    golden("engine_unknown", error)


def test_an_enzyme_that_hangs_is_ended_and_the_options_are_named(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    """The function, the limit, the option that raises it, and the one that makes type analysis look at less."""
    monkeypatch.setenv("FFGRAD_CATALYST", stand_in(tmp_path, "sleep 600"))
    error = refusal(write(CUBE), "cube", timeout=2)
    assert error.code == "engine-timeout" and "`cube`" in str(error)
    assert "timeout=8" in str(error) and "enzyme-max-type-offset" in str(error)
    assert (Path(str(error.kept)) / "before.ll").is_file()
    golden("engine_timeout", error)


def test_type_analysis_that_takes_for_ever_is_such_a_hang() -> None:
    """A real one; its files are kept in the cache, where pruning removes them."""
    error = refusal("large_struct.c", "look_up", timeout=3)
    assert error.code == "engine-timeout" and "`look_up`" in str(error)
    assert str(error.kept).startswith(os.environ["FFGRAD_CACHE_DIR"])
