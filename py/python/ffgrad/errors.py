"""The exceptions of ffgrad: one tree, whose members carry the details as attributes.

Every message has what happened, where in the user's source, and what to do next. The same is there as data:
``code``, ``function``, ``file``, ``line``, ``expected``, ``found``, ``hints``,
``output`` (what the tool itself printed) and ``kept`` (folder with the intermediate files); each is
``None`` where it does not apply.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence


class Error(Exception):
    """Anything that ffgrad refuses.

    Attributes
    ----------
    code : str or None
        A stable name for the kind of problem, ``"missing-derivative"`` for instance.
    function : str or None
        The foreign function.
    file, line : str, int or None
        The place in the user's source.
    expected, found : str or None
        The two sides of a mismatch.
    hints : list of str
        What to do next.
    output : str or None
        What the compiler or Enzyme printed.
    kept : str or None
        Folder with the intermediate files of the build, where Enzyme crashed, hung or printed what ffgrad does not know, or
        where ``FFGRAD_KEEP`` is set.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        function: str | None = None,
        file: str | None = None,
        line: int | None = None,
        expected: str | None = None,
        found: str | None = None,
        hints: Sequence[str] = (),
        output: str | None = None,
        kept: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.function = function
        self.file = file
        self.line = line
        self.expected = expected
        self.found = found
        self.hints = list(hints)
        self.output = output
        self.kept = kept


class ArgumentError(Error, TypeError, ValueError):
    """An argument of ``enzyme`` and its relatives, or an option, is of a kind that it does not take.

    Attributes
    ----------
    argument : str or None
        Its name.
    """

    def __init__(self, message: str, *, argument: str | None = None, **details: object) -> None:
        super().__init__(message, **{"code": "argument", **details})  # type: ignore[arg-type]
        self.argument = argument


class ToolchainError(Error):
    """A tool is missing or does not work; ``ffgrad doctor`` shows which.

    Attributes
    ----------
    component : str or None
        What ``ffgrad toolchain install`` would bring to end this: ``"fortran"`` for instance, or ``""`` for what every build
        needs. ``None`` where something else is wrong.
    """

    def __init__(self, message: str, *, component: str | None = None, **details: object) -> None:
        super().__init__(message, **details)  # type: ignore[arg-type]
        self.component = component


class CompileError(Error):
    """The source does not exist, compile or link, or has no such function."""


class SignatureError(Error):
    """The signature does not fit the prototype, or a call has the wrong number of inputs.

    Attributes
    ----------
    problems : list of str
        Every problem, not only the first.
    prototype : str or None
        The discovered prototype.
    suggestion : str or None
        A signature to paste.
    """

    def __init__(
        self,
        message: str,
        *,
        problems: Sequence[str] = (),
        prototype: str | None = None,
        suggestion: str | None = None,
        **details: object,
    ) -> None:
        super().__init__(message, **details)  # type: ignore[arg-type]
        self.problems = list(problems)
        self.prototype = prototype
        self.suggestion = suggestion


class ShapeError(Error, ValueError):
    """Shapes contradict each other or the signature.

    Attributes
    ----------
    argument : str or None
        The argument whose shape is wrong.
    """

    def __init__(self, message: str, *, argument: str | None = None, **details: object) -> None:
        super().__init__(message, **details)  # type: ignore[arg-type]
        self.argument = argument


class DtypeError(Error, TypeError):
    """An input has another element type than the parameter. Nothing is ever converted silently."""


class ChangedInputError(Error, ValueError):
    """An array was written to between the function's values and the pullback that reads it again."""


class DeviceError(Error):
    """An input is on a device that the function was not compiled for."""


class DifferentiationError(Error):
    """Enzyme cannot differentiate the function, or verification found its gradient wrong."""


class OutOfMemoryError(Error, MemoryError):
    """There is no memory for a call's results, the copies of its inputs, its scratch arrays, or what its derivative keeps."""


class ForeignError(Error, RuntimeError):
    """The foreign function threw a C++ exception."""


class PackError(Error):
    """A pack is damaged, is for another machine, or lacks what is asked for."""


class CacheError(Error, OSError):
    """The cache folder cannot be used."""


class GradientWarning(UserWarning):
    """A gradient is returned that could not be verified at these arguments; the text has the check's values."""


class CacheWarning(UserWarning):
    """Something in the cache was damaged and has been built again; the text names it."""


def _warn(text: str) -> None:
    """Warn at the innermost line that is neither ours nor the framework's."""
    # A thread of XLA's has no frame but this one.
    frame = sys._getframe(0)
    inner = ("ffgrad", "torch", "jax", "contextlib")
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in inner:
        frame = frame.f_back
    registry = frame.f_globals.setdefault("__warningregistry__", {})
    module = frame.f_globals.get("__name__", "ffgrad")
    category = CacheWarning if text.startswith("the cache") else GradientWarning
    warnings.warn_explicit(text, category, frame.f_code.co_filename, frame.f_lineno, module, registry)
