"""When the worker crashes or hangs: the error names the user's function and line and keeps input and output; the next pipeline is tried."""

from __future__ import annotations

import sys
from pathlib import Path

import ffgrad
import numpy as np
import pytest
from ffgrad import errors
from ffgrad.numpy import enzyme
from support.fixtures import Write
from support.goldens import Golden
from torture.faults.failing_tools import stand_in, tools

MODEL = """\
namespace model {
static double grown(double x) {
  return x * x + 1;
}
void step(const double* x, int n, double* y) {
  for (int i = 0; i < n; i++)
    y[i] = grown(x[i]) * x[i];
}
}
"""
SIGNATURE = "x[n] -> y[n]"

# What LLVM's pretty stack trace prints, after the worker's own line.
TRACE = """\
ffgrad-llvm: at default<O1>
PLEASE submit a bug report to https://github.com/llvm/llvm-project/issues/ and include the crash backtrace.
Stack dump:
0.	Running pass "cgscc(devirt<4>(function<eager-inv>(early-cse)))" on module "source0.bc"
1.	Running pass "early-cse<memssa>" on function "{symbol}"
"""
CODE_GENERATION = "0.	Running pass 'X86 DAG->DAG Instruction Selection' on function '@{symbol}'\n"
GROWN, STEP = "_ZN5modelL5grownEd", "_ZN5model4stepEPKdiPd"


def crashing(folder: Path, stage: str, words: str) -> str:
    """Return a worker that says something and dies where a request has these words."""
    (folder / "words").write_text(words)
    script = stand_in(
        folder, "FFGRAD_WORKER", "STAGE", f'cat "{folder}/words" >&2; kill -SEGV $$; exit', tools()["FFGRAD_WORKER"]
    )
    script.write_text(script.read_text().replace('"job":"STAGE"', stage))
    return str(script)


def refusal(source: Path, function: str = "model::step", **options: object) -> errors.Error:
    """Return the error of a gradient."""
    with pytest.raises(ffgrad.Error) as caught:
        _, pull = enzyme(source, function, SIGNATURE, **options).vjp(np.full(3, 2.0))
        pull(np.ones(3))
    return caught.value


def kept(error: errors.Error) -> dict[str, str]:
    """Return the files of the folder that an error names, as text."""
    files = [path for path in Path(str(error.kept)).iterdir() if path.is_file()]
    return {path.name: path.read_text(errors="replace") for path in files}


def test_a_crash_while_the_prototype_is_found_out_names_the_line(
    cache: Path, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    """By the function of the last pass, which is not the one that was asked for; request, words and bitcode are kept."""
    monkeypatch.setenv("FFGRAD_WORKER", crashing(tmp_path, '"job":"describe"', TRACE.format(symbol=GROWN)))
    error = refusal(write(MODEL, "model.cpp"))
    assert isinstance(error, ffgrad.DifferentiationError) and error.code == "worker-failed"
    assert (Path(str(error.file)).name, error.line) == ("model.cpp", 3)
    files = kept(error)
    assert "source0.bc" in files
    assert '"job":"describe"' in files["worker.log"] and "PLEASE submit" in files["worker.log"]
    golden("worker_crash_describe", error)


@pytest.mark.parametrize(
    ("job", "words", "line"),
    [
        ("derive", TRACE.format(symbol=STEP), 6),
        ("finish", CODE_GENERATION.format(symbol=f"diffe{STEP}"), 6),
        ("finish", "ffgrad-llvm: at improving loops, function ffgrad_vjp\n", 5),
        ("primal", "", 5),
    ],
    ids=["derive", "finish", "own_trail", "nothing_said"],
)
def test_a_crash_during_a_build_names_the_line(
    cache: Path,
    write: Write,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    golden: Golden,
    request: pytest.FixtureRequest,
    job: str,
    words: str,
    line: int,
) -> None:
    """A crash in a function of Enzyme's names the user's own; without a word by the function that was asked for."""
    monkeypatch.setenv("FFGRAD_WORKER", crashing(tmp_path, f'"job":"{job}"', words))
    error = refusal(write(MODEL, "model.cpp"))
    assert error.code == "worker-failed"
    assert (Path(str(error.file)).name, error.line) == ("model.cpp", line)
    files = kept(error)
    assert "source0.bc" in files and f'"job":"{job}"' in files["worker.log"]
    assert ("after.ll" in files) == (job != "derive")
    golden(f"worker_crash_{request.node.callspec.id}", error)


def test_a_crash_in_one_pipeline_leaves_the_next_one(
    cache: Path, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a refusal of Enzyme does; the gradient is checked and right."""
    monkeypatch.setenv("FFGRAD_WORKER", crashing(tmp_path, '"pipeline":"inlined"', TRACE.format(symbol=STEP)))
    _, pull = enzyme(write(MODEL, "model.cpp"), "model::step", SIGNATURE).vjp(np.full(3, 2.0))
    assert pull(np.ones(3))[0].tolist() == [13.0, 13.0, 13.0]
    assert [path.name for path in cache.glob("v*/entries/*/d1-*")] == ["d1-1-o1"]


def test_a_crash_of_the_worker_is_no_refusal_for_good(
    cache: Path, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What killed it, a machine short of memory perhaps, may be over at the next call of the same object."""
    script = Path(crashing(tmp_path, '"job":"derive"', ""))
    unless_calm = f'if [ -e "{tmp_path}/calm" ]; then printf "%s\\n" "$line"; else kill -SEGV $$; exit; fi'
    script.write_text(script.read_text().replace("kill -SEGV $$; exit", unless_calm))
    monkeypatch.setenv("FFGRAD_WORKER", str(script))
    step = enzyme(write(MODEL, "model.cpp"), "model::step", SIGNATURE)
    for _ in range(2):
        with pytest.raises(ffgrad.DifferentiationError) as caught:
            step.vjp(np.full(3, 2.0))[1](np.ones(3))
        assert caught.value.code == "worker-failed"
    (tmp_path / "calm").touch()
    assert step.vjp(np.full(3, 2.0))[1](np.ones(3))[0].tolist() == [13.0, 13.0, 13.0]


# Does the real thing up to a request, and prints a word when its input ends.
HANGS = """\
#!{python}
import os, signal, subprocess, sys
if "--version" in sys.argv:
    os.execv("{real}", ["{real}", *sys.argv[1:]])
worker = subprocess.Popen(["{real}"], stdin=subprocess.PIPE, text=True)
def end(*_):
    sys.stderr.write(open("{folder}/words").read())
    sys.stderr.flush()
    os._exit(134)
signal.signal(signal.SIGABRT, end)
for line in sys.stdin:
    if '"job":"derive"' in line:
        open("{folder}/hung", "a").write("once ")
        signal.pause()
    worker.stdin.write(line)
    worker.stdin.flush()
"""


def test_a_worker_whose_time_is_up_says_what_it_was_at(
    cache: Path, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    """No other pipeline is tried: it would take as long."""
    script, real = tmp_path / "worker", tools()["FFGRAD_WORKER"]
    script.write_text(HANGS.format(python=sys.executable, real=real, folder=tmp_path))
    script.chmod(0o755)
    (tmp_path / "words").write_text(TRACE.format(symbol=STEP))
    monkeypatch.setenv("FFGRAD_WORKER", str(script))
    error = refusal(write(MODEL, "model.cpp"), timeout=8)
    assert error.code == "worker-timeout" and error.line == 6
    assert (tmp_path / "hung").read_text() == "once "
    golden("worker_timeout", error)


def test_a_real_crash_inside_llvm_names_the_pass(
    cache: Path, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Loops within loops, and a stack that is too small for what LLVM does with them."""
    depth = 120
    loops = "".join(f"  for (int i{d} = 0; i{d} < n; i{d}++) {{\n" for d in range(depth))
    body = f"double a = 0;\n{loops}a += x[i0] * x[i{depth - 1}];\n{'}' * depth}\ny[0] = a;\n"
    script, real = tmp_path / "worker", tools()["FFGRAD_WORKER"]
    monkeypatch.setenv("FFGRAD_WORKER", str(script))
    for kilobytes in (64, 48, 40, 32, 24):
        source = write(f"void nest(const double* x, int n, double* y) {{\n{body}}}\n// {kilobytes}\n", "nest.c")
        script.write_text(f'#!/bin/bash\nulimit -s {kilobytes}\nexec "{real}" "$@"\n')
        script.chmod(0o755)
        try:
            enzyme(source, "nest", "x[n] -> y[1]")
        except ffgrad.DifferentiationError as error:
            assert error.code == "worker-failed"
            assert Path(str(error.file)).name == "nest.c" and (error.line or 0) > 0
            assert "ffgrad-llvm: at " in kept(error)["worker.log"]
            assert "when it crashed" in str(error)
            return
    pytest.fail("LLVM managed with every stack")
