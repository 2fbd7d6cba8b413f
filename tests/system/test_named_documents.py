"""Documents that messages name are within the command: a wheel has no ``docs/``."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def _code() -> Iterator[str]:
    """Return the lines of the Rust code that can print, without comments."""
    for folder in ("core-ad", "compile-driver", "py/src"):
        for path in sorted((ROOT / folder).rglob("*.rs")):
            if path.name != "documents.rs":
                yield from (line for line in path.read_text().splitlines() if not line.lstrip().startswith("//"))


def _explain(name: str) -> str:
    command = [ROOT / "target/release/ffgrad", "explain", name]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_messages_name_no_file_of_the_repository() -> None:
    assert not [line for line in _code() if re.search(r"docs/[a-z/-]+\.md", line)]


def test_every_document_that_a_message_names_can_be_read() -> None:
    """By its name, and by its path in the repository."""
    names = {name for line in _code() for name in re.findall(r"`ffgrad explain ([a-z-]+)`", line)}
    assert {"custom-derivatives", "parallel", "cuda", "fortran"} <= names
    for name in names:
        assert _explain(name).startswith("# "), name
    assert _explain("docs/custom-derivatives.md") == (ROOT / "docs/custom-derivatives.md").read_text()


@pytest.mark.parametrize(("front", "package"), [("torch", "torch"), ("jax", "jax"), ("tf", "tensorflow")])
def test_a_missing_framework_is_named_with_what_to_install(front: str, package: str) -> None:
    """As the ``ModuleNotFoundError`` that an import raises, in our own words."""
    code = f"""
    import importlib, sys
    class Hidden:
        def find_spec(self, name, path=None, target=None):
            if name.split('.')[0] == {package!r}:
                raise ModuleNotFoundError(f'No module named {{name!r}}', name={package!r})
    sys.meta_path.insert(0, Hidden())
    try:
        importlib.import_module('ffgrad.{front}')
    except ModuleNotFoundError as error:
        print(error.name, error)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"{package} ffgrad.{front} needs the package {package}, which is not installed")
    assert f"`pip install {package}`" in done.stdout
