"""Types for those who check them: the stubs of the native part are complete, and docstrings say what the package promises."""

from __future__ import annotations

import ast
import inspect
import sys
from pathlib import Path
from typing import Any

import ffgrad
import pytest
from ffgrad import _native, numpy, torch

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


def described(node: ast.FunctionDef) -> list[tuple[str, str]]:
    """Return the parameters in the stubs, each with its default."""
    arguments = node.args
    names = [a.arg for a in arguments.args]
    defaults = [""] * (len(names) - len(arguments.defaults)) + [ast.unparse(d) for d in arguments.defaults]
    rest = [("*" + arguments.vararg.arg, "")] if arguments.vararg else []
    named = [
        (a.arg, ast.unparse(d) if d else "") for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]
    return [(n, d) for n, d in zip(names, defaults, strict=True) if n != "self"] + rest + named


def native_parameters(value: Any) -> list[tuple[str, str]]:
    """The same of what is native, which says it itself."""
    parameters = inspect.signature(value).parameters.values()
    star = {inspect.Parameter.VAR_POSITIONAL: "*"}
    empty = inspect.Parameter.empty
    return [
        (star.get(p.kind, "") + p.name, "" if p.default is empty else repr(p.default))
        for p in parameters
        if p.name != "self"
    ]


def signatures() -> list[tuple[str, ast.FunctionDef, Any]]:
    """Return every function and method of the stubs beside what it describes."""
    found = []
    for node in ast.parse(STUBS.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            found.append((node.name, node, getattr(_native, node.name)))
        if not isinstance(node, ast.ClassDef):
            continue
        owner = getattr(_native, node.name)
        for member in node.body:
            is_property = isinstance(member, ast.FunctionDef) and member.decorator_list
            if isinstance(member, ast.FunctionDef) and not is_property:
                value = owner if member.name == "__init__" else vars(owner)[member.name]
                found.append((f"{node.name}.{member.name}", member, value))
    return found


@pytest.mark.parametrize(("name", "node", "value"), signatures(), ids=[name for name, *_ in signatures()])
def test_the_stubs_have_the_native_parameters(name: str, node: ast.FunctionDef, value: Any) -> None:
    """Their names, order and defaults."""
    assert described(node) == native_parameters(value)


def test_the_package_says_that_it_is_typed() -> None:
    """By its marker."""
    assert Path(ffgrad.__file__).with_name("py.typed").is_file()


def public() -> list[Any]:
    """Return what a user calls: functions, and methods without an underscore."""
    found: list[Any] = []
    for module in (torch, numpy):
        for name in module.__all__:
            thing = getattr(module, name)
            found.append(thing)
            if inspect.isclass(thing):
                found += [v for n, v in vars(thing).items() if not n.startswith("_") and inspect.isfunction(v)]
    return found


@pytest.mark.parametrize("thing", public(), ids=lambda thing: f"{thing.__module__}.{thing.__qualname__}")
def test_public_docstrings_are_in_numpys_layout(thing: Any) -> None:
    """Every parameter is described, and what is returned; classes document their attributes, functions that open something their errors."""
    text = inspect.getdoc(thing) or ""
    assert text.splitlines()[0].endswith((".", "`."))
    if inspect.isclass(thing):
        assert "Attributes\n----------" in text or "Parameters\n----------" in text
        return
    names = [n for n in inspect.signature(thing).parameters if n != "self"]
    if not names:
        return
    assert "Parameters\n----------" in text and "Returns\n-------" in text
    for name in names:
        assert name in text, name
    # What all methods of a class raise may stand at the class.
    owner = vars(sys.modules[thing.__module__]).get(thing.__qualname__.split(".")[0])
    assert "Raises\n------" in text or "All methods raise" in (inspect.getdoc(owner) or "")
