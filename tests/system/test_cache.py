"""The cache as a user meets it: no compiler when warm, edits seen, races survived, nothing dangerous loaded."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import ffgrad
import pytest
import torch
from ffgrad.torch import enzyme
from support.fixtures import Compile, RunPython, Write, start_python
from support.programs import CUBE, PAIR, PAIR_SIGNATURE

# Run in child processes: value and gradient of y = scale * x**3 at 2, and whether the pair is right.
SHOW = """
import torch
from ffgrad.torch import enzyme
x = torch.full((2,), 2.0, dtype=torch.float64, requires_grad=True)
y = enzyme({source!r}, "cube").apply(x)
y.sum().backward()
print(y.tolist(), x.grad.tolist())
"""


def entries(cache: Path) -> set[str]:
    """Keys of what is in the cache."""
    return {folder.name for folder in (next(cache.glob("v*")) / "entries").iterdir()}


def shared_objects(cache: Path) -> list[Path]:
    """Every artifact's code."""
    return sorted((next(cache.glob("v*")) / "entries").rglob("*.so"))


def no_tools(tmp_path: Path) -> dict[str, str | None]:
    """Return an environment in which neither a compiler nor Enzyme is found."""
    for name in ("no-tools", "no-bin"):
        (tmp_path / name).mkdir(exist_ok=True)
    hidden: dict[str, str | None] = {name: None for name in os.environ if name.startswith("FFGRAD_")}
    return {
        **hidden,
        "FFGRAD_TOOLS_DIR": str(tmp_path / "no-tools"),
        "PATH": str(tmp_path / "no-bin"),
    }


def test_a_warm_cache_needs_no_compiler(cache: Path, tmp_path: Path, run_python: RunPython, write: Write) -> None:
    """A new process without tools: value and gradient are right."""
    source = str(write(CUBE))
    expected = "[8.0, 8.0] [12.0, 12.0]"
    assert run_python(SHOW.format(source=source)).stdout.strip() == expected
    bare = {**no_tools(tmp_path), "FFGRAD_CACHE_DIR": str(cache)}
    assert run_python(SHOW.format(source=source), bare).stdout.strip() == expected


def test_a_warm_cache_starts_no_process(
    cache: Path, compile_source: Compile, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Opened again in this process, with tools that would fail if they were run."""
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    compile_source(CUBE, "cube").apply(x).sum().backward()
    for name, value in no_tools(tmp_path).items():
        if name not in ("FFGRAD_CACHE_DIR", "PATH") and value is not None:
            monkeypatch.setenv(name, value)
    before = shared_objects(cache)
    (gradient,) = torch.autograd.grad(compile_source(CUBE, "cube").apply(x).sum(), x)
    assert gradient.tolist() == [3.0, 3.0]
    assert shared_objects(cache) == before


def test_an_edited_source_is_a_new_program(cache: Path, write: Write) -> None:
    """Within one process, and the old one still works."""
    x = torch.full((2,), 2.0, dtype=torch.float64)
    old = enzyme(write(CUBE), "cube")
    assert old.apply(x).tolist() == [8.0, 8.0]
    new = enzyme(write(CUBE.replace("x[i] * x[i] * x[i]", "5 * x[i]")), "cube")
    assert new.apply(x).tolist() == [10.0, 10.0]
    assert old.apply(x).tolist() == [8.0, 8.0]
    assert len(entries(cache)) == 2


HEADED = """\
#include "scale.h"
void cube(const double* x, int n, double* y) {
  for (int i = 0; i < n; i++) y[i] = SCALE * x[i] * x[i] * x[i];
}
"""


def test_an_edited_header_is_a_new_program(cache: Path, write: Write) -> None:
    """And going back to the old text finds the old build."""
    x = torch.full((1,), 2.0, dtype=torch.float64, requires_grad=True)
    source = write(HEADED)
    for scale, value, slope in [(1, 8.0, 12.0), (3, 24.0, 36.0), (1, 8.0, 12.0)]:
        write(f"#define SCALE {scale}\n", "scale.h")
        y = enzyme(source, "cube").apply(x)
        assert y.tolist() == [value]
        assert torch.autograd.grad(y.sum(), x)[0].tolist() == [slope]
    assert len(entries(cache)) == 2


def test_an_edited_file_that_is_not_read_rebuilds_nothing(cache: Path, write: Write) -> None:
    """A comment in another file of the folder, a header that no source includes."""
    source = write(CUBE)
    for text in ("/* one */\n", "/* two */\n"):
        write(text + PAIR, "neighbour.c")
        write(text, "unused.h")
        enzyme(source, "cube").apply(torch.ones(2, dtype=torch.float64))
    assert len(entries(cache)) == 1
    assert len(shared_objects(cache)) == 1


def test_the_same_source_elsewhere_shares_its_build(cache: Path, tmp_path: Path, write: Write) -> None:
    """Keys have contents, not paths."""
    enzyme(write(CUBE), "cube").apply(torch.ones(2, dtype=torch.float64))
    (tmp_path / "elsewhere").mkdir()
    moved = tmp_path / "elsewhere" / "f.c"
    moved.write_text(CUBE)
    enzyme(moved, "cube").apply(torch.ones(2, dtype=torch.float64))
    assert len(shared_objects(cache)) == 1


def test_derivatives_of_the_same_source_elsewhere_are_built_from_the_first(
    cache: Path, tmp_path: Path, write: Write
) -> None:
    """Bitcode names its source; a copy of the source uses the entry and compiles nothing."""
    copies = [tmp_path / name / "cube.c" for name in ("here", "elsewhere")]
    for copy in copies:
        copy.parent.mkdir()
        copy.write_text(CUBE)
    functions = [enzyme(copy, "cube") for copy in copies]
    before = next(cache.glob("v*/entries/*/manifest.json")).stat().st_ino
    x = torch.tensor([2.0], dtype=torch.float64, requires_grad=True)
    for function in reversed(functions):
        function.apply(x).sum().backward()
        torch.autograd.functional.hvp(lambda x, f=function: f.apply(x).sum(), x)
    assert x.grad is not None and x.grad.item() == 24.0
    assert next(cache.glob("v*/entries/*/manifest.json")).stat().st_ino == before


def test_options_and_signatures_have_builds_of_their_own(cache: Path, compile_source: Compile) -> None:
    """What changes the code changes the key; when to check does not."""
    x = torch.ones(2, dtype=torch.float64)
    compile_source(CUBE, "cube").apply(x)
    compile_source(CUBE, "cube", verify="off").apply(x)
    assert len(entries(cache)) == 1
    compile_source(CUBE, "cube", "x[n] -> y[n]").apply(x)
    compile_source(CUBE, "cube", math="strict").apply(x)
    compile_source(CUBE, "cube", defines={"UNUSED": 1}).apply(x)
    assert len(entries(cache)) == 4


def test_two_functions_of_one_file_live_side_by_side(compile_source: Compile) -> None:
    """Loaded objects are not confused, though both come from f.c."""
    both = CUBE + PAIR
    x = torch.full((2,), 2.0, dtype=torch.float64)
    cube, pair = compile_source(both, "cube"), compile_source(both, "pair", PAIR_SIGNATURE)
    assert cube.apply(x).tolist() == [8.0, 8.0]
    assert pair.apply(x, 3 * x)[0].tolist() == [12.0, 12.0]
    assert cube.apply(x).tolist() == [8.0, 8.0]


def test_processes_that_race_for_one_key_are_all_right(cache: Path, tmp_path: Path, write: Write) -> None:
    """Started together on an empty cache."""
    source = str(write(CUBE))
    running = [start_python(SHOW.format(source=source), {}, tmp_path) for _ in range(3)]
    outputs = {child.finish().stdout.strip() for child in running}
    assert outputs == {"[8.0, 8.0] [12.0, 12.0]"}
    assert len(entries(cache)) == 1
    assert not list((next(cache.glob("v*")) / "staging").iterdir())


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o1777])
def test_a_cache_that_others_can_write_to_is_refused(cache: Path, compile_source: Compile, mode: int) -> None:
    """Its code would be run."""
    cache.mkdir()
    cache.chmod(mode)
    with pytest.raises(ffgrad.CacheError, match="other users") as caught:
        compile_source(CUBE, "cube")
    assert str(cache) in str(caught.value) and isinstance(caught.value, OSError)


def test_a_new_cache_folder_is_private(cache: Path, compile_source: Compile) -> None:
    """Only its user can read and write it."""
    compile_source(CUBE, "cube")
    assert cache.stat().st_mode & 0o077 == 0


def test_a_cache_that_is_no_folder_is_an_error(cache: Path, compile_source: Compile) -> None:
    """With the path and what to do."""
    cache.write_text("a file")
    with pytest.raises(ffgrad.CacheError, match="FFGRAD_CACHE_DIR"):
        compile_source(CUBE, "cube")


def damage(artifact: Path, how: str) -> None:
    """Spoil one artifact or its record."""
    record, content = artifact.with_name("artifact.json"), artifact.read_bytes()
    if how == "flipped":
        middle = len(content) // 2
        artifact.write_bytes(content[:middle] + bytes([content[middle] ^ 0xFF]) + content[middle + 1 :])
    elif how == "truncated":
        artifact.write_bytes(content[: len(content) // 2])
    elif how == "empty":
        artifact.write_bytes(b"")
    elif how == "removed":
        artifact.unlink()
    elif how == "no record":
        record.unlink()
    else:
        record.write_text("{")


DAMAGES = ["flipped", "truncated", "empty", "removed", "no record", "broken record"]


def test_damaged_artifacts_are_rebuilt_or_refused(
    cache: Path, tmp_path: Path, run_python: RunPython, write: Write
) -> None:
    """Never loaded, never a crash: each damage in a copy of a good cache, all of them met by one child process."""
    source = write(CUBE)
    x = torch.full((2,), 2.0, dtype=torch.float64, requires_grad=True)
    enzyme(source, "cube").apply(x).sum().backward()
    for how in DAMAGES:
        spoiled = tmp_path / how
        shutil.copytree(cache, spoiled)
        spoiled.chmod(0o700)
        for artifact in shared_objects(spoiled):
            damage(artifact, how)
    child = run_python(f"""
import os
import ffgrad, torch
from ffgrad.torch import enzyme
for how in {DAMAGES!r}:
    os.environ["FFGRAD_CACHE_DIR"] = os.path.join({str(tmp_path)!r}, how)
    x = torch.full((2,), 2.0, dtype=torch.float64, requires_grad=True)
    try:
        enzyme({str(source)!r}, "cube").apply(x).sum().backward()
        print(how, "rebuilt", x.grad.tolist() == [12.0, 12.0])
    except ffgrad.CacheError as error:
        print(how, "refused", how in str(error))
""")
    rows = [line.rsplit(" ", 2) for line in child.stdout.splitlines()]
    assert [(how, right) for how, _, right in rows] == [(how, "True") for how in DAMAGES], child.stdout


def test_a_removed_cache_is_built_again(cache: Path, compile_source: Compile) -> None:
    """`rm -r` at any time is safe, even under a loaded function."""
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    cube = compile_source(CUBE, "cube")
    cube.apply(x).sum().backward()
    shutil.rmtree(cache)
    cube.apply(x).sum().backward()
    fresh = compile_source(CUBE, "cube")
    assert torch.autograd.grad(fresh.apply(x).sum(), x)[0].tolist() == [3.0, 3.0]
