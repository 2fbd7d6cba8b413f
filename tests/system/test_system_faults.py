"""Real faults of the system, not simulated: full disks, folders that cannot be written to, forks, exits.

Some of it takes root (mounts, other users): skipped with the reason elsewhere.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import ffgrad
import numpy as np
import pytest
import torch
from ffgrad.numpy import Enzyme, enzyme
from support.fixtures import Write, start_python
from support.programs import CUBE

X = np.array([2.0, 3.0])
NEEDS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="mounting takes root")


def cube(source: Path) -> Enzyme:
    """y = x**3."""
    return enzyme(source, "cube", "x[n] -> y[n]")


def slope(f: Enzyme) -> list[float]:
    """The gradient of the sum at 2 and 3."""
    _, pull = f.vjp(X)
    return [float(g) for g in np.asarray(pull(np.ones(2))).ravel()]


@contextmanager
def mounted(*arguments: str) -> Iterator[None]:
    """Mount what the arguments say on the last of them; skip where that is not allowed."""
    done = subprocess.run(["mount", *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"mount {' '.join(arguments)}: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", arguments[-1]], check=True)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Make a folder one that cannot be written to, for root too."""
    with mounted("--bind", str(folder), str(folder)):
        subprocess.run(["mount", "-o", "remount,ro,bind", str(folder)], check=True)
        yield


@NEEDS_ROOT
def test_a_full_disk_is_a_typed_error_at_every_stage(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cache and temporary files on a disk of so many kilobytes; with room the same cache works."""
    source, disk = write(CUBE), tmp_path / "disk"
    disk.mkdir(mode=0o700)
    with mounted("-t", "tmpfs", "-o", "size=16k,mode=700", "tmpfs", str(disk)):
        monkeypatch.setenv("FFGRAD_CACHE_DIR", str(disk))
        monkeypatch.setenv("TMPDIR", str(disk))
        refused = 0
        for kilobytes in [16, 40, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 65536]:
            subprocess.run(["mount", "-o", f"remount,size={kilobytes}k", str(disk)], check=True)
            try:
                gradient = slope(cube(source))
            except ffgrad.CacheError as error:
                refused += 1
                assert "room" in str(error), error
                continue
            assert gradient == [12.0, 27.0]
        assert refused >= 4 and gradient == [12.0, 27.0]
        # What the failures left is no more than folders of builds, which are gone.
        assert not list(disk.glob("v*/staging/*"))


@NEEDS_ROOT
def test_a_read_only_cache_serves_what_it_has(
    cache: Path, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a word; what it lacks is built in a private folder below TMPDIR, with one."""
    source, other = write(CUBE), write(CUBE.replace("cube", "dice"), "dice.c")
    assert slope(cube(source)) == [12.0, 27.0]
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    code = """
import sys, warnings
import numpy as np
from ffgrad.numpy import enzyme
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for what in sys.argv[1:] if len(sys.argv) > 1 else WHAT:
        f = enzyme(what + ".c", "cube" if what == "f" else what, "x[n] -> y[n]")
        y, pull = f.vjp(np.array([2.0, 3.0]))
        print(what, pull(np.ones(2))[0].tolist(), [w.category.__name__ for w in caught])
"""
    with read_only(cache):
        before = sorted(cache.rglob("*"))
        served = start_python(code.replace("WHAT", "['f']"), {}, tmp_path).finish().stdout
        assert served == "f [12.0, 27.0] []\n"
        built = start_python(code.replace("WHAT", "['f', 'dice']"), {}, tmp_path).finish().stdout
        assert built.splitlines() == ["f [12.0, 27.0] []", "dice [12.0, 27.0] ['CacheWarning']"]
        again = start_python(code.replace("WHAT", "['dice']"), {}, tmp_path).finish().stdout
        assert again == "dice [12.0, 27.0] []\n"
        assert sorted(cache.rglob("*")) == before
        private = tmp_path / "tmp" / f"ffgrad-{os.geteuid()}"
        assert private.stat().st_mode & 0o777 == 0o700
        # With no folder to write to, what is there is served all the same, and the rest is a typed error.
        with read_only(tmp_path / "tmp"):
            os.environ["FFGRAD_CACHE_DIR"] = str(cache)
            assert slope(cube(source)) == [12.0, 27.0]
            fresh = write(CUBE + "/* new */\n", "fresh.c")
            with mounted("-t", "tmpfs", "-o", "size=1m,ro", "tmpfs", str(tmp_path / "tmp")):
                assert slope(cube(source)) == [12.0, 27.0]
                with pytest.raises(ffgrad.CacheError, match="FFGRAD_CACHE_DIR"):
                    cube(fresh)
    del other


@NEEDS_ROOT
def test_a_home_that_cannot_be_written_to_is_no_end(write: Write, tmp_path: Path) -> None:
    """As in containers that run as any user: functions are built in the temporary folder, with a warning."""
    home, temporary = tmp_path / "home", tmp_path / "tmp"
    home.mkdir()
    temporary.mkdir()
    write(CUBE)
    code = """
import warnings
import numpy as np
from ffgrad.numpy import enzyme
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    y, pull = enzyme("f.c", "cube", "x[n] -> y[n]").vjp(np.array([2.0, 3.0]))
    print(pull(np.ones(2))[0].tolist(), [w.category.__name__ for w in caught])
"""
    tools = os.environ.get("FFGRAD_TOOLS_DIR") or str(Path.home() / ".local/share/ffgrad/tools")
    env = {"HOME": str(home), "XDG_CACHE_HOME": None, "FFGRAD_CACHE_DIR": None, "FFGRAD_TOOLS_DIR": tools}
    with read_only(home):
        said = start_python(code, {**env, "TMPDIR": str(temporary)}, tmp_path).finish().stdout
    assert said == "[12.0, 27.0] ['CacheWarning']\n"


@NEEDS_ROOT
def test_another_user_is_served_by_a_cache_of_roots(cache: Path, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user who may read but not write; a folder in /tmp that another user made under that user's name is not used."""
    with tempfile.TemporaryDirectory() as name:
        shared = Path(name)
        shared.chmod(0o755)
        source = shared / "cube.c"
        source.write_text(CUBE)
        monkeypatch.setenv("FFGRAD_CACHE_DIR", str(shared / "cache"))
        assert slope(cube(source)) == [12.0, 27.0]
        subprocess.run(["chmod", "-R", "go+rX", str(shared)], check=True)
        (shared / "tmp").mkdir()
        (shared / "tmp").chmod(0o1777)
        (shared / "tmp" / "ffgrad-65534").mkdir(mode=0o777)
        monkeypatch.setenv("TMPDIR", str(shared / "tmp"))

        def serve() -> bool:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            return slope(cube(source)) == [12.0, 27.0]

        assert in_child(serve)
        assert not list((shared / "tmp" / "ffgrad-65534").iterdir())
        (shared / "tmp" / "ffgrad-65534").rmdir()
        assert in_child(serve)
        assert (shared / "tmp" / "ffgrad-65534").stat().st_uid == 65534


def in_child(run: object) -> bool:
    """Whether ``run`` is true in a forked process."""
    assert callable(run)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 0 if run() else 1
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


class Slopes(torch.utils.data.Dataset[torch.Tensor]):
    """Gradients, computed in the workers."""

    def __init__(self, f: object) -> None:
        self.f = f

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> torch.Tensor:
        x = torch.full((2,), float(index), dtype=torch.float64, requires_grad=True)
        assert callable(self.f)
        self.f(x).sum().backward()
        assert x.grad is not None
        return x.grad


def test_workers_of_a_data_loader_differentiate(cache: Path, write: Write) -> None:
    """Forked with the function loaded, called before or not."""
    from ffgrad.torch import enzyme as torch_enzyme

    for called_before in (True, False):
        f = torch_enzyme(write(CUBE + f"/* {called_before} */\n"), "cube", "x[n] -> y[n]")
        if called_before:
            f(torch.ones(2, dtype=torch.float64, requires_grad=True)).sum().backward()
        loader = torch.utils.data.DataLoader(Slopes(f), batch_size=2, num_workers=2, multiprocessing_context="fork")
        found = torch.cat(list(loader))[:, 0]
        torch.testing.assert_close(found, 3 * torch.arange(8, dtype=torch.float64) ** 2)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing_starts_what_it_likes(cache: Path, write: Write, tmp_path: Path, method: str) -> None:
    """Children of the same program share one cache, by fork and by spawn."""
    write(CUBE)
    program = tmp_path / "program.py"
    program.write_text(
        f"""
import multiprocessing, sys
import numpy as np
from ffgrad.numpy import enzyme
def slope(x):
    f = enzyme("f.c", "cube", "x[n] -> y[n]")
    return f.vjp(np.full(2, x))[1](np.ones(2))[0].tolist()
if __name__ == "__main__":
    with multiprocessing.get_context({method!r}).Pool(2) as pool:
        print(pool.map(slope, [1.0, 2.0, 3.0]), slope(4.0))
"""
    )
    done = subprocess.run([sys.executable, str(program)], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.stdout == "[[3.0, 3.0], [12.0, 12.0], [27.0, 27.0]] [48.0, 48.0]\n", done.stderr
    assert len(list(cache.glob("v*/entries/*"))) == 1


def test_a_fork_in_the_middle_of_a_build_leaves_a_working_child(cache: Path, write: Write, tmp_path: Path) -> None:
    """A thread builds; the forked process, where that thread is not, calls the same function."""
    code = """
import os, threading, time
import numpy as np
from ffgrad.numpy import enzyme
f = enzyme("f.c", "cube", "x[n] -> y[n]")
gradient = lambda: f.vjp(np.full(2, 2.0))[1](np.ones(2))[0].tolist()
for wait in (0.0, 0.01, 0.05, 0.1, 0.2):
    f = enzyme("f.c", "cube", "x[n] -> y[n]", defines={"W": str(wait)})
    builder = threading.Thread(target=gradient)
    builder.start()
    time.sleep(wait)
    child = os.fork()
    if child == 0:
        os._exit(0 if gradient() == [12.0, 12.0] else 1)
    builder.join()
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), gradient())
"""
    write(CUBE)
    said = start_python(code, {}, tmp_path).finish().stdout
    assert said == "0 [12.0, 12.0]\n" * 5


@pytest.mark.parametrize("daemon", [True, False])
def test_an_interpreter_that_ends_slowly_during_a_build_neither_hangs_nor_crashes(
    cache: Path, write: Write, tmp_path: Path, daemon: bool
) -> None:
    """The build of a daemon thread is done while the interpreter is taking itself apart."""
    code = f"""
import threading, time
import numpy as np
from ffgrad.numpy import enzyme
class Slow:
    def __del__(self, sleep=time.sleep):
        sleep(3)
slow = Slow()
build = lambda: enzyme("f.c", "cube", "x[n] -> y[n]").vjp(np.ones(2))[1](np.ones(2))
threading.Thread(target=build, daemon={daemon}).start()
time.sleep(0.05)
"""
    source = write(CUBE)
    done = start_python(code, {}, tmp_path).finish(check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert slope(cube(source)) == [12.0, 27.0]


NO_LOCKS = """
#include <errno.h>
int flock(int file, int operation) { (void)file; (void)operation; errno = ENOLCK; return -1; }
"""


def test_a_file_system_without_locks_will_do(cache: Path, write: Write, tmp_path: Path) -> None:
    """Some processes at once, each of which may build for itself; one entry, no leftovers."""
    shim = tmp_path / "shim.so"
    compiler = os.environ.get("CC", "cc")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(shim), str(write(NO_LOCKS, "shim.c"))], check=True)
    write(CUBE)
    code = """
import numpy as np
from ffgrad.numpy import enzyme
print(enzyme("f.c", "cube", "x[n] -> y[n]").vjp(np.full(2, 2.0))[1](np.ones(2))[0].tolist())
"""
    running = [start_python(code, {"LD_PRELOAD": str(shim)}, tmp_path) for _ in range(3)]
    assert [r.finish().stdout for r in running] == ["[12.0, 12.0]\n"] * 3
    assert len(list(cache.glob("v*/entries/*"))) == 1
    assert not list(cache.glob("v*/staging/*"))
