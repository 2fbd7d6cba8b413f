"""The derivative of a solver by what it solves, for the option ``derivatives``."""

from __future__ import annotations

import difflib
from typing import Any

from ffgrad._arguments import refused
from ffgrad.errors import ArgumentError

KINDS = ("root", "fixed_point", "minimum")


def implicit(
    function: str,
    *,
    kind: str = "root",
    unknown: str | None = None,
    size: str | int | None = None,
    tolerance: float | None = None,
) -> dict[str, Any]:
    """Return the implicit function theorem's derivative of a solver: ``derivatives={"solve": implicit("residual")}``.

    The solver is called for its values alone. Its solution x of f(x, p) = 0 has the derivative -(df/dx)^-1 df/dp, in forward and in
    reverse mode, and second derivatives; ``docs/custom-derivatives.md`` has the prototypes that fit.

    Parameters
    ----------
    function
        Name of the function that says what is solved. It takes parameters of the solver by the same names.
    kind : {"root", "fixed_point", "minimum"}
        What holds at the solution: the function is zero; it gives the solution back; it is smallest there.
    unknown
        The parameter of the solver with the solution, where several could be.
    size
        The integer parameter that counts the unknowns, where several could, or their number.
    tolerance
        How exact the solution has to be, relative to each unknown: 1e-4, of ``float`` 1e-3. A call in which the solver ends farther from
        it is a ``DifferentiationError``.

    Returns
    -------
    dict
        A value of the option, as JSON has it for other languages: ``{"implicit": "residual"}``.

    Raises
    ------
    ArgumentError
        If there is no such kind.
    """
    if not isinstance(function, str):
        raise refused("function", function, "the name of the function that says what is solved", "implicit()")
    if kind not in KINDS:
        close = difflib.get_close_matches(str(kind), KINDS, 1)
        meant = f": did you mean {close[0]!r}?" if close else ""
        raise ArgumentError(f"there is no kind {kind!r}{meant}\n  The kinds are {', '.join(map(repr, KINDS))}.")
    given = {"implicit": function, "kind": kind, "unknown": unknown, "size": size, "tolerance": tolerance}
    return {name: value for name, value in given.items() if value is not None and (name, value) != ("kind", "root")}
