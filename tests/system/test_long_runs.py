"""Many calls, many threads, several interpreters: flat memory, right numbers, no crash."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from ffgrad.numpy import enzyme
from support.fixtures import Write, start_python
from support.programs import CUBE
from torture.faults import longrun


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
@pytest.mark.parametrize("kind", longrun.KINDS)
def test_memory_is_flat_over_many_calls(kind: str) -> None:
    """The long run makes a million of each."""
    result = longrun.run(20_000 if kind != "torch jvp" else 4_000, [kind])
    assert result.passed, result.problems


def test_threads_call_and_build_at_once(cache: Path, write: Write) -> None:
    """Each of eight opens, builds and calls its own function and one that all share, while the others do."""
    shared = enzyme(write(CUBE), "cube", "x[n] -> y[n]")
    wrong: list[str] = []
    begin = threading.Barrier(8)

    def work(number: int) -> None:
        source = write(CUBE.replace("cube", f"own{number % 4}"), f"own{number % 4}.c")
        begin.wait()
        try:
            own = enzyme(source, f"own{number % 4}", "x[n] -> y[n]")
            for i in range(200):
                x = np.full(50, 1.0 + number + i / 100)
                for f in (own, shared):
                    y, pull = f.vjp(x)
                    gradient = pull(np.ones(50))[0]
                    if not (np.allclose(y, x**3) and np.allclose(gradient, 3 * x**2)):
                        wrong.append(f"thread {number}, call {i}")
        except Exception as error:
            wrong.append(repr(error))

    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(switch)
    assert not wrong
    # Two threads had the same source each: what both built is there once.
    assert len(list(cache.glob("v*/entries/*"))) == 5
    assert not list(cache.glob("v*/staging/*"))


def test_two_programs_share_a_cache_while_both_build(cache: Path, write: Write, tmp_path: Path) -> None:
    """Different functions and the same one, in two processes at once."""
    for name in ("first", "second", "third"):
        write(CUBE.replace("cube", name), f"{name}.c")
    code = """
import sys
import numpy as np
from ffgrad.numpy import enzyme
x = np.full(4, 2.0)
for name in NAMES:
    f = enzyme(name + ".c", name, "x[n] -> y[n]")
    assert f.vjp(x)[1](np.ones(4))[0].tolist() == [12.0] * 4
    assert np.asarray(f.hvp((x,), (np.ones(4),), np.ones(4))).ravel().tolist() == [12.0] * 4
print("right")
"""
    orders = ["['first', 'second', 'third']", "['third', 'second', 'first']"]
    running = [start_python(code.replace("NAMES", order), {}, tmp_path) for order in orders]
    assert [r.finish().stdout for r in running] == ["right\n", "right\n"]
    assert len(list(cache.glob("v*/entries/*"))) == 3


def test_a_second_interpreter_in_the_process_is_refused_with_a_reason(tmp_path: Path) -> None:
    """An ImportError, not a crash; and the first one works on."""
    code = """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
import numpy as np
import ffgrad._native
second = interpreters.create()
inside = '''
import importlib.machinery, importlib.util
try:
    # NumPy refuses too, in words of its own; so ffgrad's own module is asked.
    loader = importlib.machinery.ExtensionFileLoader("ffgrad._native", PATH)
    spec = importlib.util.spec_from_loader("ffgrad._native", loader)
    loader.exec_module(importlib.util.module_from_spec(spec))
except ImportError as error:
    print("refused:", error, flush=True)
'''.replace("PATH", repr(ffgrad._native.__file__))
interpreters.run_string(second, inside)
from ffgrad.numpy import enzyme
print(enzyme("f.c", "cube", "x[n] -> y[n]")(np.full(1, 2.0)).tolist(), flush=True)
"""
    (tmp_path / "f.c").write_text(CUBE)
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stderr
    assert lines[0].startswith("refused:") and "interpreter" in lines[0] and lines[1] == "[8.0]"
