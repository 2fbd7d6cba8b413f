"""What makes two builds the same: whole programs, compared by the key in their manifest.

What a key is made of field by field is tested in ``compile-driver/src/build/key/tests.rs``.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import ffgrad
import pytest
from ffgrad.numpy import enzyme as numpy_enzyme
from ffgrad.torch import enzyme
from support.fixtures import RunPython, Write

HEADERS = """\
#include "a.h"
double first(double x) { return K * x; }
#undef K
#include "b.h"
double second(double x) { return K * x; }
double f(double x) { return 10 * first(x) + second(x); }
"""


def key(source: Path | str, function: str = "f", signature: str | None = None, **options: object) -> str:
    """Return the key of a function's entry."""
    text: str = enzyme(source, function, signature, **options).manifest["key"]  # type: ignore[arg-type]
    return text


def project(folder: Path, a: str = "2.0", b: str = "3.0") -> Path:
    """Write a source with two headers, one of them in a folder below."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "a.h").write_text(f"#define K {a}\n")
    (folder / "b.h").write_text(f"#define K {b}\n")
    source = folder / "f.c"
    source.write_text(HEADERS)
    return source


def test_headers_that_exchange_their_content_are_another_program(tmp_path: Path) -> None:
    """All the same texts are read, in other places."""
    assert enzyme(project(tmp_path, "2.0", "3.0"), "f").apply(1.0).item() == 23.0
    assert enzyme(project(tmp_path, "3.0", "2.0"), "f").apply(1.0).item() == 32.0


def test_the_same_text_is_another_program_in_c_and_in_cpp(write: Write) -> None:
    """A character constant has the size of an int in C, and of a char in C++."""
    text = "double f(double x) { return x * sizeof('a'); }\n"
    assert enzyme(write(text, "f.c"), "f").apply(1.0).item() == 4.0
    assert enzyme(write(text, "f.cpp"), "f").apply(1.0).item() == 1.0


def test_what_a_compiler_does_not_read_changes_nothing(
    tmp_path: Path, run_python: RunPython, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other files, times, links, the working folder, the folder of the sources, the user's surroundings."""
    source = project(tmp_path / "here")
    keys = {"as it is": key(source)}
    (source.parent / "unrelated.h").write_text("// a comment\n")
    (source.parent / "g.c").write_text("double g(double x) { return x; }\n")
    keys["unrelated files"] = key(source)
    for path in source.parent.iterdir():
        os.utime(path, (1, 1))
    keys["times"] = key(source)
    monkeypatch.chdir(source.parent)
    keys["a relative path"] = key("f.c")
    monkeypatch.chdir("/")
    keys["another working folder"] = key(source)
    keys["another folder"] = key(project(tmp_path / "there" / "deep"))
    (tmp_path / "link").symlink_to(source.parent)
    keys["through a link"] = key(tmp_path / "link" / "f.c")
    surroundings = {
        "LANG": "de_DE.UTF-8",
        "LC_ALL": "C.UTF-8",
        "TZ": "Asia/Kathmandu",
        "USER": "somebody",
        "HOME": str(tmp_path),
        "TMPDIR": str(tmp_path),
        "OMP_NUM_THREADS": "3",
        "CFLAGS": "-O0",
        "SOURCE_DATE_EPOCH": "1",
        "FFGRAD_TOOLS_DIR": os.environ.get("FFGRAD_TOOLS_DIR", os.path.expanduser("~/.local/share/ffgrad/tools")),
        "FFGRAD_CACHE_DIR": str(tmp_path / "another cache"),
    }
    code = f"from ffgrad.torch import enzyme\nprint(enzyme({str(source)!r}, 'f').manifest['key'])"
    keys["other surroundings"] = run_python(code, surroundings).stdout.strip()
    assert set(keys.values()) == {keys["as it is"]}, json.dumps(keys, indent=1)


def test_what_a_compiler_reads_changes_the_key(tmp_path: Path) -> None:
    """Text of headers, comments included; values of macros; the order of folders in which headers are found."""
    source = project(tmp_path)
    keys = {"as it is": key(source)}
    for folder, value in (("one", 5), ("two", 7)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "c.h").write_text(f"#define C {value}.0\n")
    (tmp_path / "g.c").write_text('#include "c.h"\ndouble f(double x) { return C * x; }\n')
    one, two = str(tmp_path / "one"), str(tmp_path / "two")
    for order in ([one, two], [two, one]):
        keys[f"folders {order}"] = key(tmp_path / "g.c", include_dirs=order)
    for value in ("1", "2", None):
        keys[f"-D {value}"] = key(source, defines={"UNUSED": value})
    keys["flag"] = key(source, flags=["-DUNUSED=1"])
    keys["math"] = key(source, math="strict")
    keys["signature"] = key(source, signature="x -> return")
    (tmp_path / "a.h").write_text("#define K 2.0  // a comment\n")
    keys["a comment in a header"] = key(source)
    assert len(set(keys.values())) == len(keys), json.dumps(keys, indent=1)


GAIN = "double gain(double x);\ndouble f(double x) { return gain(x); }\n"
# With a derivative of the user's own for what no engine can look into.
SQUARED = """double gain(double x);
double gain_fwd(double x, double dx, double *dy) { *dy = gain(1.0) * dx; return gain(x); }
void gain_rev(double x, double *dx, double dy) { *dx += gain(1.0) * dy; }
double f(double x) { double g = gain(x); return g * g; }
"""
RULES = {"gain": ["gain_fwd", "gain_rev"]}


def library(folder: Path, gain: int, name: str = "libgain.a") -> Path:
    """Build a library with one function, static or shared."""
    folder.mkdir(exist_ok=True)
    (folder / "gain.c").write_text(f"double gain(double x) {{ return {gain} * x; }}\n")
    subprocess.run(["cc", "-c", "-fPIC", "gain.c", "-o", "gain.o"], cwd=folder, check=True)
    static = ["ar", "rcs", name, "gain.o"]
    (folder / name).unlink(missing_ok=True)
    subprocess.run(static if name.endswith(".a") else ["cc", "-shared", "gain.o", "-o", name], cwd=folder, check=True)
    return folder / name


def test_a_library_that_is_built_again_is_linked_again(tmp_path: Path, write: Write) -> None:
    """A static one becomes part of the code."""
    source = write(GAIN)
    for gain in (2, 3):
        built = library(tmp_path / "lib", gain)
        assert enzyme(source, "f", libraries=[str(built)]).apply(1.0).item() == gain


def test_a_library_given_by_name_and_built_again_gives_its_new_values_and_gradients(
    tmp_path: Path, write: Write
) -> None:
    """It is found in a folder of `-L`; a file beside it that nothing reads changes no key."""
    source = write(SQUARED)
    keys = []
    for gain in (2, 3):
        folder = library(tmp_path / "lib", gain).parent
        for beside in ("libother.a", "notes.txt"):
            (folder / beside).write_text(f"of {gain}")
            f = numpy_enzyme(source, "f", libraries=["gain"], flags=[f"-L{folder}"], derivatives=RULES)
            assert f.value_and_grad(1.5) == (gain * gain * 2.25, 2 * gain * gain * 1.5)
            keys.append(f.manifest["key"])
    assert keys[0] == keys[1] != keys[2] == keys[3]


@pytest.mark.parametrize("by_path", [False, True])
def test_a_shared_library_is_loaded_from_the_folder_that_it_was_linked_from(
    tmp_path: Path, write: Write, by_path: bool
) -> None:
    """The loader does not know the folder by itself, and the library has another name there (`-soname`)."""
    built = library(tmp_path / "lib", 2, "libgain.so")
    named = ["cc", "-shared", "gain.o", "-Wl,-soname,libgain.so.2", "-o", "libgain.so"]
    subprocess.run(named, cwd=built.parent, check=True)
    (built.parent / "libgain.so.2").symlink_to("libgain.so")
    options: dict[str, Any] = {"libraries": ["gain"], "flags": [f"-L{built.parent}"]}
    if by_path:
        options = {"libraries": [str(built)]}
    f = numpy_enzyme(write(SQUARED), "f", derivatives=RULES, **options)
    assert f.value_and_grad(1.5) == (9.0, 12.0)


def test_a_library_that_the_linker_would_take_instead_makes_another_key(tmp_path: Path, write: Write) -> None:
    """One in an earlier folder, and a shared one beside a static one."""
    source = write(GAIN)
    first, second = tmp_path / "first", library(tmp_path / "second", 2).parent
    first.mkdir()
    options: dict[str, Any] = {"libraries": ["gain"], "flags": ["-L", str(first), f"-L{second}"]}
    keys = [key(source, **options)]
    assert numpy_enzyme(source, "f", **options)(1.0) == 2.0
    library(second, 2, "libgain.so")
    keys.append(key(source, **options))
    library(second, 4, "libgain.so")
    keys.append(key(source, **options))
    library(first, 3)
    keys.append(key(source, **options))
    assert numpy_enzyme(source, "f", **options)(1.0) == 3.0
    (first / "libgain.a").unlink()
    (second / "libgain.so").unlink()
    assert key(source, **options) == keys[0] and len(set(keys)) == 4


def test_a_folder_for_libraries_in_the_environment_is_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Write
) -> None:
    """The other library is linked where the variable points elsewhere."""
    source = write(GAIN)
    for gain in (2, 3):
        monkeypatch.setenv("LIBRARY_PATH", str(library(tmp_path / str(gain), gain).parent))
        assert numpy_enzyme(source, "f", libraries=["gain"])(1.0) == gain


def test_a_library_of_the_system_enters_a_key_by_the_name_that_it_is_loaded_by(tmp_path: Path) -> None:
    """The C library's mathematics: the linker's script by its content, what that names by name."""
    sources = numpy_enzyme(project(tmp_path), "f", libraries=["m"]).manifest["sources"]
    loaded = {Path(s["path"]).name: s["digest"] for s in sources if s["digest"].startswith("loaded as ")}
    assert loaded["libm.so.6"] == "loaded as libm.so.6"


def test_what_is_linked_to_another_library_than_the_key_says_is_not_kept(tmp_path: Path, write: Write) -> None:
    """The library is built again between opening the function and its first gradient."""
    source = write(SQUARED)
    folder = library(tmp_path / "lib", 2).parent
    options: dict[str, Any] = {"libraries": ["gain"], "flags": [f"-L{folder}"], "derivatives": RULES}
    f = numpy_enzyme(source, "f", **options)
    library(folder, 3)
    with pytest.raises(
        ffgrad.CompileError, match=r"the library `.*libgain.a` has changed since `f` was opened"
    ) as caught:
        f.value_and_grad(1.5)
    assert caught.value.code == "source-changed"
    assert numpy_enzyme(source, "f", **options).value_and_grad(1.5) == (20.25, 27.0)
    library(folder, 2)
    assert f.value_and_grad(1.5) == (9.0, 12.0)


def test_relative_paths_in_options_are_those_of_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Write
) -> None:
    """The same words in two folders are two programs."""
    source = write("#include <c.h>\ndouble gain(double x);\ndouble f(double x) { return C * gain(x); }\n")
    for gain in (2, 3):
        folder = tmp_path / str(gain)
        library(folder, gain)
        (folder / "c.h").write_text(f"#define C {gain}0.0\n")
        monkeypatch.chdir(folder)
        f = numpy_enzyme(source, "f", libraries=["./libgain.a"], include_dirs=["."])
        assert f(1.0) == 10 * gain * gain


@pytest.mark.parametrize("variable", ["CPATH", "C_INCLUDE_PATH"])
def test_folders_for_headers_in_the_environment_are_followed(
    variable: str, tmp_path: Path, run_python: RunPython
) -> None:
    """The other header is read where the variable points elsewhere."""
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "c.h").write_text(f"#define C {len(folder)}{len(folder + 'x')}.0 // {folder}\n")
    (tmp_path / "g.c").write_text("#include <c.h>\ndouble f(double x) { return C * x; }\n")
    code = f"from ffgrad.torch import enzyme\nprint(enzyme({str(tmp_path / 'g.c')!r}, 'f').manifest['key'])"
    keys = {run_python(code, {variable: str(tmp_path / folder)}).stdout for folder in ("one", "two")}
    assert len(keys) == 2
