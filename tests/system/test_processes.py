"""Child processes: none outlives a signal, none takes the machine's memory, and Ctrl-C during a build is a ``KeyboardInterrupt``."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import ffgrad
import numpy as np
import pytest
from ffgrad.numpy import enzyme
from support.fixtures import Write, start_python
from support.programs import CUBE
from torture.faults import signals
from torture.faults.failing_tools import stand_in, tools
from torture.faults.races import real_engine


@pytest.mark.parametrize("stage", ["clang: compile", "clang: link", "engine", "worker: describe", "worker: derive"])
def test_ctrl_c_ends_a_build_soon_and_leaves_nothing(stage: str) -> None:
    """No child, no grandchild, no lock; the next build is right."""
    result = signals.run([stage], ["SIGINT"])
    assert result.passed, result.problems


@pytest.mark.parametrize("front", ["torch", "torch.func", "torch.compile", "torch.ops"])
def test_ctrl_c_ends_a_build_inside_torch(front: str) -> None:
    """In a forward call that a gradient will follow; in an operator that PyTorch's own code calls."""
    result = signals.run(["engine"], ["SIGINT"], [front])
    assert result.passed, result.problems


@pytest.mark.parametrize("name", ["SIGTERM", "SIGKILL"])
@pytest.mark.parametrize("stage", ["clang: compile", "engine", "worker: derive"])
def test_no_child_outlives_its_parent(stage: str, name: str) -> None:
    """Even one that is killed and can do nothing any more; the children of children neither."""
    result = signals.run([stage], [name])
    assert result.passed, result.problems


WAITS = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np
from ffgrad.numpy import enzyme
try:
    print("begun", flush=True)
    enzyme(sys.argv[1], "cube", "x[n] -> y[n]")
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_ctrl_c_ends_the_wait_for_another_process(cache: Path, write: Write, tmp_path: Path) -> None:
    """One hangs in a build and holds its lock; the other one waits."""
    source, pids = write(CUBE, "cube.c"), tmp_path / "pids"
    engine = stand_in(tmp_path, "FFGRAD_CLANG", "*cube.c*", signals.HANG, tools()["FFGRAD_CLANG"])
    clangxx = str(Path(tools()["FFGRAD_CLANG"]).parent / "clang++")
    env = {**os.environ, "PIDS": str(pids), "FFGRAD_CLANG": str(engine), "FFGRAD_CLANGXX": clangxx}
    command = [sys.executable, "-c", WAITS, str(source)]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as first:
        assert signals.until(pids.exists, 120)
        with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as second:
            assert second.stdout is not None and second.stdout.readline() == "begun\n"
            # By then it waits, most likely; if not, it is interrupted before.
            time.sleep(1)
            second.send_signal(signal.SIGINT)
            assert second.communicate(timeout=60)[0] == "interrupted\n"
        assert first.poll() is None
        first.send_signal(signal.SIGINT)
        assert "interrupted" in first.communicate(timeout=60)[0]
    assert not signals.held_locks(cache)


GRADIENT = """
import sys
import numpy as np
from ffgrad.numpy import enzyme
f = enzyme(sys.argv[1], "cube", "x[n] -> y[n]")
print(f.vjp(np.ones(2))[1](np.ones(2))[0])
"""


def test_a_wait_for_another_process_is_told(cache: Path, write: Write) -> None:
    """This process holds the locks of the derivatives; the notice names it, and the other one goes on once it lets go."""
    command = [sys.executable, "-c", GRADIENT, str(write(CUBE, "cube.c"))]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    for choice in cache.rglob("choice-*.json"):
        choice.unlink()
    locks = [lock.open("a") for lock in cache.rglob("locks/*-*.lock")]
    assert locks
    for lock in locks:
        fcntl.flock(lock, fcntl.LOCK_EX)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as waiting:
        assert waiting.stderr is not None and waiting.stdout is not None
        notice = waiting.stderr.readline()
        assert f"waiting for process {os.getpid()}" in notice
        assert waiting.poll() is None
        for lock in locks:
            lock.close()
        assert waiting.wait(timeout=120) == 0
        assert waiting.stdout.read() == "[3. 3.]\n"


def test_ctrl_c_ends_the_wait_for_another_thread(cache: Path, write: Write, tmp_path: Path) -> None:
    """The other thread continues its build."""
    code = """
import os, signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np
from ffgrad.numpy import enzyme
f = enzyme("f.c", "cube", "x[n] -> y[n]")
def build():
    f.vjp(np.ones(3))[1](np.ones(3))
other = threading.Thread(target=build, daemon=True)
other.start()
while other.is_alive() and not os.path.exists(os.environ["PIDS"]):
    time.sleep(0.01)
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    build()
except KeyboardInterrupt:
    print("interrupted", other.is_alive(), flush=True)
os._exit(0)
"""
    write(CUBE)
    pids = tmp_path / "pids"
    engine = stand_in(tmp_path, "FFGRAD_CATALYST", "*llc*", signals.HANG, real_engine())
    env = {"PIDS": str(pids), "FFGRAD_CATALYST": str(engine)}
    assert start_python(code, env, tmp_path).finish().stdout.strip() == "interrupted True"
    left = [int(pid) for pid in pids.read_text().split()]
    assert signals.until(lambda: not any(signals.alive(pid) for pid in left), 20)


def test_an_interrupted_build_is_not_remembered(cache: Path, write: Write, tmp_path: Path) -> None:
    """The same function, called again in the same process, is built: not refused, and by the same pipeline as before."""
    code = """
import os, signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np
from ffgrad.numpy import enzyme
f = enzyme("f.c", "cube", "x[n] -> y[n]")
pids = os.environ["PIDS"]
def interrupt():
    while not os.path.exists(pids):
        time.sleep(0.01)
    open(pids + ".over", "w").close()
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    f.vjp(np.full(3, 2.0))
except KeyboardInterrupt:
    pass
print(f.vjp(np.full(3, 2.0))[1](np.ones(3))[0].tolist())
"""
    write(CUBE)
    hang_once = f'if [ ! -e "$PIDS.over" ]; then {signals.HANG}; fi'
    engine = stand_in(tmp_path, "FFGRAD_CATALYST", "*llc*", hang_once, real_engine())
    # An engine that waits for its input's end before it hangs would be another test.
    env = {"PIDS": str(tmp_path / "pids"), "FFGRAD_CATALYST": str(engine)}
    assert start_python(code, env, tmp_path).finish().stdout.strip() == "[12.0, 12.0, 12.0]"
    assert len(list(cache.glob("v*/entries/*/d1-*"))) == 1


def test_a_handler_of_the_users_own_is_called_during_a_build(cache: Path, write: Write, tmp_path: Path) -> None:
    """The build continues if the handler raises nothing."""
    code = """
import signal
import numpy as np
from ffgrad.numpy import enzyme
called = []
signal.signal(signal.SIGALRM, lambda *_: called.append(True))
signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
f = enzyme("f.c", "cube", "x[n] -> y[n]")
y, pull = f.vjp(np.full(3, 2.0))
signal.setitimer(signal.ITIMER_REAL, 0)
print(len(called) > 1, pull(np.ones(3))[0].tolist())
"""
    write(CUBE)
    # A machine without load builds a function this small before the main thread looks for signals a second time.
    engine = stand_in(tmp_path, "FFGRAD_CATALYST", "*llc*", "sleep 1", real_engine())
    env = {"FFGRAD_CATALYST": str(engine)}
    assert start_python(code, env, tmp_path).finish().stdout.strip() == "True [12.0, 12.0, 12.0]"


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of a child's memory is Linux's")
def test_a_compiler_that_wants_too_much_memory_is_a_typed_error(
    cache: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The real clang, with a limit far below what it needs; the message names the limit and how to raise it."""
    source = write(
        CUBE + "static double table[1 << 22] = {" + "1.5," * 200_000 + "};\ndouble* keep(void) { return table; }\n"
    )
    monkeypatch.setenv("FFGRAD_MEMORY_LIMIT", "10M")
    with pytest.raises(ffgrad.CompileError) as caught:
        enzyme(source, "cube", "x[n] -> y[n]")
    assert caught.value.code == "memory-limit"
    assert "10 MiB" in str(caught.value) and "FFGRAD_MEMORY_LIMIT" in str(caught.value)
    monkeypatch.setenv("FFGRAD_MEMORY_LIMIT", "none")
    assert enzyme(source, "cube", "x[n] -> y[n]")(np.array([2.0])).tolist() == [8.0]


def test_a_tool_that_writes_without_end_is_stopped(
    cache: Path, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a typed error, and this process grows by far less than what was written."""
    engine = stand_in(tmp_path, "FFGRAD_CATALYST", "*llc*", "yes garbage", real_engine())
    monkeypatch.setenv("FFGRAD_CATALYST", str(engine))
    f = enzyme(write(CUBE), "cube", "x[n] -> y[n]")
    with pytest.raises(ffgrad.DifferentiationError, match="larger than 1536 MiB"):
        f.vjp(np.ones(3))
    worker = stand_in(tmp_path, "FFGRAD_WORKER", "load", "yes garbage", tools()["FFGRAD_WORKER"])
    worker.write_text(worker.read_text().replace("while IFS", "yes complaint | head -c 3000000000 >&2 & while IFS"))
    monkeypatch.delenv("FFGRAD_CATALYST")
    monkeypatch.setenv("FFGRAD_WORKER", str(worker))
    before = memory()
    with pytest.raises(ffgrad.Error):
        enzyme(write(CUBE + "/* again */\n"), "cube", "x[n] -> y[n]", timeout=20)
    assert memory() - before < 100 << 20
    assert threading.active_count() < 20


def memory() -> int:
    """Bytes that this process has in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
