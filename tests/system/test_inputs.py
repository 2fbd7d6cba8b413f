"""What a compiler would take if it were there: a cached derivative is never that of another program.

Each test opens a function, changes something outside of the files that were read, and opens it again: values and gradients are
those of what clang or flang would compile now. Names and folders are tested in ``compile-driver/src/build/frontend/inputs``.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from ffgrad.numpy import enzyme
from support.fixtures import RunPython, Write


def gain(source: Path, **options: object) -> float:
    """Return f(1), where f is linear, after a look at the gradient."""
    value, gradient = enzyme(source, "f", **options).value_and_grad(1.0)  # type: ignore[arg-type]
    assert value == gradient
    return float(value)


def folders(root: Path, *names: str) -> list[Path]:
    """Make folders."""
    made = [root / name for name in names]
    for folder in made:
        folder.mkdir(parents=True)
    return made


def header(folder: Path, value: int, name: str = "c.h") -> None:
    """Write a header with a constant."""
    (folder / name).write_text(f"#define C {value}.0\n")


ANGLED = "#include <c.h>\ndouble f(double x) { return C * x; }\n"
QUOTED = ANGLED.replace("<c.h>", '"c.h"')


@pytest.mark.parametrize("flag", ["-I", "-isystem", "-iquote", "-idirafter", "-iwithprefixbefore"])
def test_a_header_that_appears_in_an_earlier_folder_differs(flag: str, tmp_path: Path, write: Write) -> None:
    """For every flag that names folders, in one word or two."""
    first, second = folders(tmp_path, "first", "second")
    header(second, 2)
    source = write(QUOTED)
    flags = [flag, str(first), f"{flag}{second}"]
    assert gain(source, flags=flags) == 2.0
    header(first, 3)
    assert gain(source, flags=flags) == 3.0
    (first / "c.h").unlink()
    assert gain(source, flags=flags) == 2.0
    header(source.parent, 5)
    assert gain(source, flags=flags) == 5.0


@pytest.mark.parametrize("variable", ["CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"])
def test_a_header_that_appears_in_an_earlier_folder_of_the_environment_differs(
    variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Write
) -> None:
    """Also where the folder itself appears later."""
    first, second = tmp_path / "first", *folders(tmp_path, "second")
    monkeypatch.setenv(variable, f"{first}:{second}")
    header(second, 2)
    source = write(ANGLED, "f.cpp" if variable.startswith("CPLUS") else "f.c")
    assert gain(source) == 2.0
    folders(tmp_path, "first")
    header(first, 3)
    assert gain(source) == 3.0


def test_a_header_beside_the_header_that_includes_it_differs(tmp_path: Path, write: Write) -> None:
    """Quotes look in the folder of the including file first, which is not that of the source."""
    inner, outer = folders(tmp_path, "inner", "outer")
    (inner / "b.h").write_text('#include "c.h"\n')
    header(outer, 2)
    source = write("#include <b.h>\ndouble f(double x) { return C * x; }\n")
    flags = [f"-I{inner}", f"-I{outer}"]
    assert gain(source, flags=flags) == 2.0
    header(inner, 3)
    assert gain(source, flags=flags) == 3.0


@pytest.mark.parametrize(
    "question",
    [
        '__has_include("own.h")',
        "__has_include(<own.h>)",
        "HAS(<own.h>)",
        "__has_include(NAME)",
        '__has_embed("own.h") == __STDC_EMBED_FOUND__',
    ],
)
def test_a_header_that_is_asked_for_differs_when_it_appears(question: str, tmp_path: Path, write: Write) -> None:
    """By its name, through a macro, and with a name that a macro makes."""
    text = f"#define HAS(x) __has_include(x)\n#define NAME <own.h>\n#if {question}\n#define C 3.0\n#else\n#define C 2.0\n#endif\n"
    source = write(text + "double f(double x) { return C * x; }\n")
    flags = [f"-I{source.parent}"]
    assert gain(source, flags=flags) == 2.0
    (source.parent / "own.h").write_text("1")
    assert gain(source, flags=flags) == 3.0
    (source.parent / "own.h").unlink()
    assert gain(source, flags=flags) == 2.0


def test_files_of_options_count_by_content(tmp_path: Path, write: Write) -> None:
    """Response files and configurations, and those that they name."""
    source = write("double f(double x) { return C * x; }\n")
    (tmp_path / "outer.rsp").write_text(f"@{tmp_path}/inner.rsp")
    (tmp_path / "own.cfg").write_text("@inner.rsp")
    for flag in (f"@{tmp_path}/outer.rsp", f"--config={tmp_path}/own.cfg"):
        for value in (2, 3):
            (tmp_path / "inner.rsp").write_text(f"-DC={value}.0")
            assert gain(source, flags=[flag]) == value
    (tmp_path / "own.cfg").write_text("-DC=7.0")
    assert gain(source, flags=["--config", f"{tmp_path}/own.cfg"]) == 7.0


def test_a_file_of_options_that_clang_takes_by_itself_differs(tmp_path: Path, write: Write) -> None:
    """One appears where clang looks for it."""
    source = write("#ifndef C\n#define C 2.0\n#endif\ndouble f(double x) { return C * x; }\n")
    flags = [f"--config-user-dir={tmp_path}"]
    assert gain(source, flags=flags) == 2.0
    for value in (3, 4):
        (tmp_path / "clang.cfg").write_text(f"-DC={value}.0\n")
        assert gain(source, flags=flags) == value
    (tmp_path / "clang.cfg").unlink()
    assert gain(source, flags=flags) == 2.0


def test_options_from_the_environment_differ(monkeypatch: pytest.MonkeyPatch, write: Write) -> None:
    """Those that override the command line, by their text."""
    source = write("#ifndef C\n#define C 2.0\n#endif\ndouble f(double x) { return C * x; }\n")
    assert gain(source) == 2.0
    for value in (3, 4):
        monkeypatch.setenv("CCC_OVERRIDE_OPTIONS", f"# +-DC={value}.0")
        assert gain(source) == value
    monkeypatch.delenv("CCC_OVERRIDE_OPTIONS")
    assert gain(source) == 2.0


def test_embedded_data_differs(tmp_path: Path, write: Write) -> None:
    """By content, and where it appears in an earlier place."""
    data, *_ = folders(tmp_path, "data")
    text = 'static const char c[] = {\n#embed "c.bin"\n};\ndouble f(double x) { return c[0] * x; }\n'
    source = write(text)
    flags = ["-std=c23", f"--embed-dir={data}"]
    for value in (2, 3):
        (data / "c.bin").write_bytes(bytes([value]))
        assert gain(source, flags=flags) == value
    (source.parent / "c.bin").write_bytes(bytes([5]))
    assert gain(source, flags=flags) == 5.0


def test_a_file_that_only_a_flag_names_counts_by_content(tmp_path: Path, write: Write) -> None:
    """A file that replaces another: clang lists the replaced one, which does not change."""
    for name, value in (("c.h", 2), ("a.h", 3), ("b.h", 5)):
        header(tmp_path, value, name)
    source = write(QUOTED)
    overlay = tmp_path / "overlay.yaml"

    def replaced_by(name: str) -> None:
        entry = f"{{'type': 'file', 'name': '{tmp_path}/c.h', 'external-contents': '{tmp_path}/{name}'}}"
        overlay.write_text(f"{{'version': 0, 'use-external-names': false, 'roots': [{entry}]}}")

    flags = [f"-I{tmp_path}", "-ivfsoverlay", str(overlay)]
    for name, value in (("a.h", 3.0), ("b.h", 5.0)):
        replaced_by(name)
        assert gain(source, flags=flags) == value


def test_a_module_that_clang_finds_by_itself_differs(tmp_path: Path, write: Write) -> None:
    """Its map names another header."""
    (tmp_path / "m.h").write_text("static double g(double x) { return 2 * x; }\n")
    (tmp_path / "module.modulemap").write_text('module M { header "m.h" export * }\n')
    source = write('#include "m.h"\ndouble f(double x) { return g(x); }\n')
    flags = ["-fmodules", f"-fmodules-cache-path={tmp_path}/kept", f"-I{tmp_path}"]
    assert gain(source, flags=flags) == 2.0
    (tmp_path / "m.h").write_text("static double g(double x) { return 300 * x; }\n")
    assert gain(source, flags=flags) == 300.0


def test_the_date_is_always_the_same(tmp_path: Path, write: Write, run_python: RunPython) -> None:
    """The same text is the same program at any time: the time of compiling is 1 January 1970."""
    source = write("double f(double x) { return (__DATE__[10] - '0') * 10 * x + (__TIMESTAMP__[23] - '0') * x; }\n")
    assert gain(source) == 0.0
    code = f"from ffgrad.numpy import enzyme\nf = enzyme({str(source)!r}, 'f')\nprint(f(1.0), f.manifest['key'])"
    keys = {run_python(code, {"SOURCE_DATE_EPOCH": epoch}).stdout for epoch in (None, "86400")}
    assert len(keys) == 1 and keys.pop().startswith("0.0 ")
