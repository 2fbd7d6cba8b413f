"""Types for those who check them: the stubs of the native part are complete, and docstrings say what the package promises."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import ffgrad
import pytest
from ffgrad import _native, torch

STUBS = Path(_native.__file__).with_name("_native.pyi")


def stubbed() -> dict[str, set[str]]:
    """Return the names in the stubs, with the members of classes."""
    names: dict[str, set[str]] = {}
    for node in ast.parse(STUBS.read_text()).body:
        if isinstance(node, ast.ClassDef):
            names[node.name] = {n.name for n in node.body if isinstance(n, ast.FunctionDef) and n.name != "__init__"}
        elif isinstance(node, ast.FunctionDef):
            names[node.name] = set()
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names[node.target.id] = set()
    return names


def test_the_stubs_name_exactly_what_is_native() -> None:
    """Functions, classes, methods and properties."""
    native: dict[str, set[str]] = {}
    for name, value in vars(_native).items():
        if name.startswith("_") and name != "__version__" or inspect.ismodule(value):
            continue
        native[name] = {n for n in vars(value) if not n.startswith("_")} if inspect.isclass(value) else set()
    assert {name: {m for m in members if not m.startswith("_")} for name, members in stubbed().items()} == native


def test_the_package_says_that_it_is_typed() -> None:
    """By its marker."""
    assert Path(ffgrad.__file__).with_name("py.typed").is_file()


@pytest.mark.parametrize("thing", [torch.enzyme, torch.Enzyme.apply, torch.EnzymeModule, torch.EnzymeModule.forward])
def test_public_docstrings_have_parameters_and_errors(thing: object) -> None:
    """In NumPy's layout."""
    text = inspect.getdoc(thing) or ""
    assert "Parameters\n----------" in text and "Raises\n------" in text
