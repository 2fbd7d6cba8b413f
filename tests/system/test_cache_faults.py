"""The cache under damage, forks and its own command: everything wrong is built again with a warning, never loaded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import ffgrad
import numpy as np
import pytest
from ffgrad.numpy import Enzyme, enzyme
from support.fixtures import Write
from support.goldens import NEGATIVE
from support.programs import CUBE

ROOT = Path(__file__).resolve().parents[2]
COMMAND = ROOT / "target" / "release" / "ffgrad"


def cube(source: Path) -> Enzyme:
    """y = x**3."""
    return enzyme(source, "cube", "x[n] -> y[n]")


def slope(f: Enzyme) -> list[float]:
    """The gradient of the sum at 2 and 3."""
    _, pull = f.vjp(np.array([2.0, 3.0]))
    return [float(g) for g in np.asarray(pull(np.ones(2))).ravel()]


def ffgrad_command(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command on the cache of the test."""
    if not COMMAND.exists():
        pytest.skip(f"there is no {COMMAND}: run make tools")
    return subprocess.run([str(COMMAND), *arguments], capture_output=True, text=True, env=dict(os.environ))


def flip(path: Path, place: float = 0.5) -> None:
    """Change one bit, in a new file: this process may have the old one mapped."""
    content = bytearray(path.read_bytes())
    content[int(len(content) * place)] ^= 1
    path.unlink()
    path.write_bytes(bytes(content))


DAMAGED = ["manifest.json", "source0.bc", "d1-*/artifact.json", "d1-*/*.so", "choice-d1-1.json"]


@pytest.mark.parametrize("pattern", DAMAGED)
def test_one_changed_bit_is_noticed_reported_and_rebuilt(cache: Path, write: Write, pattern: str) -> None:
    """In each file of an entry; the command sees it too."""
    source = write(CUBE)
    assert slope(cube(source)) == [12.0, 27.0]
    entry = next(cache.glob("v*/entries/*"))
    flip(next(entry.glob(pattern)), 0.9)
    verified = ffgrad_command("cache", "verify", "--json")
    assert verified.returncode == 1 and len(json.loads(verified.stdout)["damaged"]) == 1
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        again = cube(source)
        assert slope(again) == [12.0, 27.0]
        # The bitcode is needed only for what is not built yet.
        again.hvp((np.array([2.0, 3.0]),), (np.ones(2),), np.ones(2))
    warned = [w for w in caught if issubclass(w.category, ffgrad.CacheWarning)]
    # A check that cannot be read is made again, which needs no word.
    assert warned or pattern.startswith("choice")
    assert ffgrad_command("cache", "verify").returncode == 0


@pytest.mark.parametrize("content", [None, b"", b"no bitcode"], ids=["cut", "empty", "garbage"])
def test_the_compiled_runtime_is_noticed_and_compiled_again(cache: Path, write: Write, content: bytes | None) -> None:
    """It belongs to no entry, and every derivative is linked with it."""
    source = write(CUBE)
    assert slope(cube(source)) == [12.0, 27.0]
    runtime = next(cache.glob("v*/runtime/*/arena.bc"))
    whole = runtime.read_bytes()
    runtime.write_bytes(whole[: len(whole) // 2] if content is None else content)
    damaged = json.loads(ffgrad_command("cache", "verify", "--json").stdout)["damaged"]
    assert [Path(one["path"]).name for one in damaged] == [runtime.parent.name]
    cube(source).hvp((np.array([2.0, 3.0]),), (np.ones(2),), np.ones(2))
    # The folder of the compilation is in it: not every byte is the same again.
    assert runtime.stat().st_size == len(whole)
    assert ffgrad_command("cache", "verify").returncode == 0


def test_a_new_header_that_is_found_earlier_is_a_new_program(cache: Path, tmp_path: Path, write: Write) -> None:
    """Nothing that was read has changed, and yet the compiler would read something else."""
    folders = [tmp_path / "first", tmp_path / "second"]
    for folder in folders:
        folder.mkdir()
    (folders[1] / "scale.h").write_text("#define SCALE 1\n")
    source = write('#include "scale.h"\n' + CUBE.replace("x[i] * x[i] * x[i]", "SCALE * x[i]"))
    x = np.array([2.0])
    values = []
    for _ in range(2):
        values.append(float(enzyme(source, "cube", "x[n] -> y[n]", include_dirs=folders)(x)[0]))
        (folders[0] / "scale.h").write_text("#define SCALE 5\n")
    assert values == [2.0, 10.0]


def test_links_in_place_of_artifacts_are_not_followed(cache: Path, tmp_path: Path, write: Write) -> None:
    """Even to the same content."""
    source = write(CUBE)
    slope(cube(source))
    artifact = next(cache.glob("v*/entries/*/d1-*/*.so"))
    artifact.rename(tmp_path / "elsewhere.so")
    artifact.symlink_to(tmp_path / "elsewhere.so")
    with pytest.warns(ffgrad.CacheWarning):
        assert slope(cube(source)) == [12.0, 27.0]
    assert not next(cache.glob("v*/entries/*/d1-*/*.so")).is_symlink()


def test_a_function_works_in_a_forked_process(cache: Path, write: Write) -> None:
    """Loaded before the fork, first called before or after it."""
    for called_before in (True, False):
        f = cube(write(CUBE + f"/* {called_before} */\n"))
        if called_before:
            slope(f)
        child = os.fork()
        if child == 0:
            os._exit(0 if slope(f) == [12.0, 27.0] else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert slope(f) == [12.0, 27.0]


def test_what_is_in_use_survives_clearing(cache: Path, write: Write) -> None:
    """Cleared by the command in another process; removed once no process has it open."""
    f = cube(write(CUBE))
    slope(f)
    listed = json.loads(ffgrad_command("cache", "list", "--json").stdout)["entries"]
    assert [(e["function"], e["in_use"]) for e in listed] == [("cube", True)]
    assert json.loads(ffgrad_command("cache", "clear", "--json").stdout)["in_use"] == 1
    assert slope(f) == [12.0, 27.0]
    del f
    assert json.loads(ffgrad_command("cache", "clear", "--json").stdout)["entries"] == 1
    assert not list(cache.glob("v*/entries/*"))


def test_the_limit_prunes_what_was_unused_longest(cache: Path, write: Write) -> None:
    """Two functions, room for one."""
    for name in ("old", "young"):
        slope(enzyme(write(CUBE.replace("cube", name), f"{name}.c"), name, "x[n] -> y[n]"))
    entries = {
        json.loads((e / "manifest.json").read_text())["prototype"]["function"]: e for e in cache.glob("v*/entries/*")
    }
    os.utime(entries["old"] / "used", (1, 1))
    removed = json.loads(ffgrad_command("cache", "prune", "--unused", "30", "--json").stdout)
    assert removed["entries"] == 1
    assert not entries["old"].exists() and entries["young"].exists()


def test_an_interpreter_that_ends_during_a_build_leaves_a_usable_cache(cache: Path, write: Write) -> None:
    """A thread builds while the main thread is done."""
    source = write(CUBE)
    code = f"""
import threading, time
import numpy as np
from ffgrad.numpy import enzyme
build = lambda: enzyme({str(source)!r}, "cube", "x[n] -> y[n]").vjp(np.ones(2))
threading.Thread(target=build, daemon=True).start()
time.sleep(0.15)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert slope(cube(source)) == [12.0, 27.0]


def test_the_command_explains_checks_and_completes(cache: Path, write: Write) -> None:
    """Each verb by its exit status and what it prints."""
    source = str(write(CUBE))
    checked = ffgrad_command("check", source, "cube", "-s", "x[n] -> y[n]", "--dim", "n=3", "--json")
    assert checked.returncode == 0
    rows = json.loads(checked.stdout)["rows"]
    assert [r["input"] for r in rows] == ["x", "x"] and all(abs(r["forward"] - r["reverse"]) < 1e-9 for r in rows)
    assert "No gradient is returned." in ffgrad_command("explain", "unproven-gradient").stdout
    unknown = ffgrad_command("explain", "unproven-gradiant")
    assert unknown.returncode == 1 and "unproven-gradient" in unknown.stderr
    assert "_ffgrad" in ffgrad_command("completions", "bash").stdout
    assert json.loads(ffgrad_command("build", source, "cube", "--json").stdout)["key"]
    assert ffgrad_command("check").returncode == 2


def test_the_command_names_the_line_that_enzyme_refuses(cache: Path) -> None:
    """As a call does, though `show` tries one pipeline only and Enzyme sees no debug information."""
    source = str(NEGATIVE / "growing.c")
    shown = ffgrad_command("show", source, "running_sums", "-s", "x[n] -> y[n]", "--ir", "after")
    assert shown.returncode == 1 and not shown.stdout
    assert "growing.c:5" in shown.stderr and "realloc" in shown.stderr


def test_a_table_of_pointers_keeps_its_addresses(cache: Path) -> None:
    """LLVM would make it a table of offsets from its own address, on which Enzyme crashed in the first pipeline."""
    source = str(ROOT / "tests" / "cases" / "enzyme_bugs" / "series_by_pointer.c")
    at_first = ("show", source, "place", "-s", "x[n] -> y[n]", "--pipeline", "inlined", "--ir")
    shown = ffgrad_command(*at_first, "before")
    assert "@tables" in shown.stdout and "load.relative" not in shown.stdout
    assert ffgrad_command(*at_first, "after").returncode == 0
