"""Code blocks of documents run (``tests/support/documents.py``), generated documentation is up to date, and the paths that are named exist."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import ffgrad
import pytest
from ffgrad._core import Options
from support.documents import Step, as_program, misprints, missing_paths, program_of, sources_of, steps_of
from support.fixtures import RunPython

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "target/release"


@pytest.mark.parametrize("document", ["pytorch.md", "numpy.md", "packs.md", "cuda.md", "checkpointing.md"])
def test_the_code_of_a_document_runs(document: str, tmp_path: Path, run_python: RunPython) -> None:
    """In an empty folder, as a reader would try it."""
    run_python(program_of(document, tmp_path))


@pytest.mark.parametrize(
    "document",
    [
        "../README.md",
        "index.md",
        "tutorial/first-model.md",
        "tutorial/signatures.md",
        "legacy.md",
        "cpp.md",
        "command-line.md",
        "speed.md",
        "debugging.md",
    ],
)
def test_a_document_prints_what_it_says(document: str, tmp_path: Path, run_python: RunPython) -> None:
    """In an empty folder; the text below each block is what the block prints."""
    steps = steps_of(document, tmp_path)
    assert any(step.printed for step in steps)
    assert misprints(steps, run_python(as_program(steps)).stdout) == []


def test_the_program_of_the_c_abi_page_compiles_and_prints_a_gradient(tmp_path: Path) -> None:
    """As it stands on the page, without a warning."""
    sources_of("reference/c-abi.md", tmp_path)
    built = ["-I", ROOT / "compile-driver/capi/include", "-L", PROGRAMS, f"-Wl,-rpath,{PROGRAMS}", "-lffgrad"]
    strict = ["-std=c99", "-Wall", "-Wextra", "-Werror"]
    subprocess.run(["cc", *strict, "gradient.c", *built, "-o", "gradient"], cwd=tmp_path, check=True)
    printed = subprocess.run(["./gradient"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert printed == "2 4 6\n"


def test_what_a_document_should_print_is_compared(tmp_path: Path) -> None:
    """Block by block, with ``...`` for any text."""
    steps = [Step("", "one ... three\n"), Step("", None), Step("", "four\n")]
    assert misprints(steps, "one 2 three\n\x1e\nanything\x1e\nfour\n\x1e\n") == []
    assert misprints(steps, "one 2 three\n\x1e\n\x1e\nfive\n\x1e\n") == [("four\n", "five\n")]
    with pytest.raises(AssertionError, match="1 of 3 steps"):
        misprints(steps, "one 2 three\n\x1e\n")


def test_the_documentation_of_options_is_that_of_the_driver() -> None:
    """Python's docstring and the table of ``docs/reference/options.md``; what is said on failure regenerates both."""
    command = [sys.executable, ROOT / "scripts" / "option_docs.py"]
    checked = subprocess.run([*command, "--check"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    documented = re.findall(r"^    (\w+) : ", Options.__doc__ or "", re.MULTILINE)
    assert sorted(documented) == sorted(Options.__annotations__)


def test_a_broken_link_of_the_site_is_found(tmp_path: Path) -> None:
    """A page or an anchor that is not there; links to other sites are left alone."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "index.html").write_text('<h1 id="one">One</h1><a href="../b.html">b</a>')
    (tmp_path / "b.html").write_text(
        '<a href="a/#one">1</a> <a href="a/index.html#two">2</a> <img src="c.png"> <a href="https://x.org/#y">3</a>'
    )
    command = [sys.executable, ROOT / "scripts" / "check_links.py", tmp_path]
    checked = subprocess.run(command, capture_output=True, text=True)
    assert checked.returncode == 1
    assert checked.stderr.splitlines() == [
        "broken links:",
        "b.html: a/index.html#two: there is no such anchor",
        "b.html: c.png: there is no such file",
    ]


@pytest.mark.parametrize("document", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_every_path_that_a_document_names_exists(document: str) -> None:
    assert missing_paths(ROOT / document) == []


def test_a_path_that_does_not_exist_is_found(tmp_path: Path) -> None:
    document = tmp_path / "D.md"
    document.write_text(
        "### Part: `core-ad/src/`\n`passes.rs`, `shapes/`, `a(b)`, `py/gone.py`\n# Other\n`passes.rs`\n"
    )
    assert missing_paths(document) == ["py/gone.py", "passes.rs"]


def test_the_version_stands_in_one_place() -> None:
    """``Cargo.toml``'s, which the wheel takes; the others are compared, and the changes have a section for it."""
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        import release
    finally:
        sys.path.pop(0)
    assert release.version() == ffgrad.__version__


def test_where_does_x_go_has_at_most_40_rows() -> None:
    table = (ROOT / "ARCHITECTURE.md").read_text().split("## Where does X go?")[1]
    rows = [line for line in table.splitlines() if line.startswith("| ") and not line.startswith("| X ")]
    assert 0 < len(rows) <= 40


@pytest.mark.parametrize("sources", ["core-ad/llvm/src", "compile-driver/src"])
def test_the_drawing_has_every_room(sources: str) -> None:
    drawing = (ROOT / "ARCHITECTURE.md").read_text().split("## Rooms")[1].split("## One call")[0]
    drawn = {name.strip(",") for line in drawing.splitlines() for name in line.split("  ")[0].split()}
    rooms = {room.name for room in (ROOT / sources).iterdir() if room.is_dir()}
    nested = {f"pack/{room.name}" for room in (ROOT / sources).glob("pack/*") if room.is_dir()}
    assert (rooms - {"pack"} | nested) <= drawn
