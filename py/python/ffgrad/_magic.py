"""The cell magic ``%%ffgrad`` of IPython and Jupyter: a cell of C, C++, Fortran or CUDA becomes a function of the notebook.

    %load_ext ffgrad

    %%ffgrad norm x[n] -> return
    #include <math.h>
    double norm(const double *x, int n) {
      double s = 0;
      for (int i = 0; i < n; i++) s += x[i] * x[i];
      return sqrt(s);
    }

IPython itself is not imported: its shell calls :func:`load` through ``ffgrad.load_ipython_extension``.
"""

from __future__ import annotations

import ast
import atexit
import importlib
import importlib.util
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from ffgrad.errors import ArgumentError, Error

LANGUAGES = {"c": ".c", "c++": ".cpp", "fortran": ".f90", "cuda": ".cu"}
# What else people call them: the names of files' endings.
_ALIASES = {"cpp": "c++", "cxx": "c++", "cc": "c++", "f90": "fortran", "cu": "cuda"}
FRONT_ENDS = ("torch", "jax", "tf", "numpy")
# The framework that a notebook has imported is the one that it computes with.
_IMPORTED = {"torch": "torch", "jax": "jax", "tf": "tensorflow"}
_PACKAGES = {**_IMPORTED, "numpy": "numpy"}

USAGE = (
    "%%ffgrad [language=c] [front_end=numpy] [OPTION=VALUE ..] NAME [SIGNATURE]\n"
    f"  language: {', '.join(LANGUAGES)}; front_end: {', '.join(FRONT_ENDS)} (without it the framework that is imported)\n"
    "  options are those of enzyme(), values as in Python without spaces: math='strict' flags=['-O1']"
)


def parse(line: str) -> tuple[dict[str, Any], str, str | None]:
    """Return the settings, the function's name and the signature of a magic's line.

    Raises
    ------
    ArgumentError
        The line names no function, or a value is not one of Python's.
    """
    settings: dict[str, Any] = {}
    rest = line.strip()
    while rest:
        word, _, after = rest.partition(" ")
        name, equals, value = word.partition("=")
        # `f<x==0>` would be a strange template; a setting's name is an identifier.
        if not (equals and name.isidentifier()):
            break
        try:
            settings[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            # A bare word is a text: language=fortran.
            if not value.replace("+", "").replace("-", "").isalnum():
                raise ArgumentError(f"`{value}` is no value for {name}\n{USAGE}", argument=name) from None
            settings[name] = value
        rest = after.strip()
    function, _, signature = rest.partition(" ")
    if not function:
        raise ArgumentError(f"name the function that the cell defines\n{USAGE}")
    if function.startswith("-"):
        raise ArgumentError(f"`{function}` is no name of a function; settings have no dashes\n{USAGE}")
    return settings, function, _unquoted(signature.strip()) or None


def _unquoted(signature: str) -> str:
    """Return a signature that is given in quotes, as in Python, without them."""
    quoted = len(signature) > 1 and signature[0] in "\"'" and signature[0] == signature[-1]
    return signature[1:-1].strip() if quoted else signature


def front_end(settings: dict[str, Any]) -> str:
    """Take the front end out of the settings, or find the one in use."""
    found = next((ours for ours, module in _IMPORTED.items() if module in sys.modules), "numpy")
    chosen = str(settings.pop("front_end", found))
    chosen = {"tensorflow": "tf", "pytorch": "torch"}.get(chosen, chosen)
    if chosen not in FRONT_ENDS:
        raise ArgumentError(f"`{chosen}` is no front end\n{USAGE}", argument="front_end")
    if _PACKAGES[chosen] not in sys.modules and importlib.util.find_spec(_PACKAGES[chosen]) is None:
        hint = f"Install {_PACKAGES[chosen]}, or choose another front end: {', '.join(FRONT_ENDS)}."
        raise ArgumentError(
            f"front_end={chosen} needs the package {_PACKAGES[chosen]}, which is not installed in this Python\n  {hint}",
            argument="front_end",
            hints=[hint],
        )
    return chosen


def language_of(settings: dict[str, Any]) -> str:
    """Take the language out of the settings."""
    given = str(settings.pop("language", "c")).lower()
    language = _ALIASES.get(given, given)
    if language not in LANGUAGES:
        raise ArgumentError(f"`{given}` is no language\n{USAGE}", argument="language")
    return language


def beside(settings: dict[str, Any], language: str, cell: str) -> None:
    """Let the cell include files of the notebook's folder, in which the process runs: its own is elsewhere."""
    here = os.getcwd()
    if language == "fortran":
        if re.search(r"^\s*include\s*['\"]|^\s*#\s*include", cell, re.IGNORECASE | re.MULTILINE):
            settings["include_dirs"] = [here, *settings.get("include_dirs", [])]
    elif re.search(r'^\s*#\s*include\s*"', cell, re.MULTILINE):
        # For names in quotes alone: a `string.h` there is none of the system's.
        settings["flags"] = [f"-iquote{here}", *settings.get("flags", [])]


class Cells:
    """The sources of a notebook's cells: one file a function, in a folder that goes with the process."""

    def __init__(self) -> None:
        self._folder: Path | None = None

    def write(self, function: str, suffix: str, text: str) -> Path:
        """Write a cell's text; a cell that is run again replaces it."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="ffgrad-cells-"))
            atexit.register(shutil.rmtree, self._folder, ignore_errors=True)
        name = "".join(c if c.isalnum() or c == "_" else "_" for c in function)
        path = self._folder / f"{name}{suffix}"
        path.write_text(text)
        return path


def load(shell: Any) -> None:
    """Register the magic with IPython's shell.

    Parameters
    ----------
    shell
        What IPython gives to extensions: it has ``register_magic_function`` and ``user_ns``.
    """
    cells = Cells()

    def ffgrad(line: str, cell: str) -> Any:
        try:
            settings, function, signature = parse(line)
            language = language_of(settings)
            module = importlib.import_module(f"ffgrad.{front_end(settings)}")
            path = cells.write(function, LANGUAGES[language], cell)
            beside(settings, language, cell)
            operation = module.enzyme(path, function, signature, **settings)
        except Error as error:
            # The place in the cell is in the message; frames of ffgrad and of IPython say nothing. IPython asks for this method.
            lines = [f"{type(error).__name__}: {error}"]
            error._render_traceback_ = lambda: lines  # type: ignore[attr-defined]
            raise
        # `ns::f<double>` is no name in Python: its last part is.
        shell.user_ns[function.split("<")[0].split("(")[0].split("::")[-1]] = operation
        return operation

    ffgrad.__doc__ = USAGE
    shell.register_magic_function(ffgrad, "cell", "ffgrad")
