"""Calls that do not fit the procedure in another file are named with their line: the compiler sees one side at a time."""

from __future__ import annotations

from pathlib import Path

import pytest
from ffgrad.errors import CompileError
from ffgrad.torch import enzyme

CALLER = """      subroutine w(x, y)
      double precision x, y
      {declaration}
      y = 0
      {call}
      end
"""
CALLEE = """      subroutine g(x, k, y)
      integer k
      double precision x(*), y
      y = x(1)*k
      end
      double precision function half(x)
      double precision x
      half = 0.5d0*x
      end
      subroutine report(text, code)
      character*(*) text
      integer code
      if (code .gt. 100) print *, text
      end
"""


def opened(folder: Path, call: str, declaration: str = "") -> object:
    """Return the operation of a caller that has this statement."""
    caller, callee = folder / "caller.f", folder / "callee.f"
    caller.write_text(CALLER.format(call=call, declaration=declaration))
    callee.write_text(CALLEE)
    return enzyme([caller, callee], "w", "x -> y")


def test_a_call_with_too_few_arguments_is_refused(tmp_path: Path) -> None:
    """It would read an address from anywhere."""
    with pytest.raises(CompileError, match="`g` .* takes 3 arguments, and the caller gives 2") as error:
        opened(tmp_path, "call g(x, y)")
    assert error.value.code == "mismatched-call" and error.value.line == 5


def test_a_function_that_is_real_to_its_caller_and_double_precision_itself_is_refused(tmp_path: Path) -> None:
    """By default, for its name begins with h."""
    with pytest.raises(CompileError, match="`half` .* returns a number of 8 bytes, and the caller expects .* 4 bytes"):
        opened(tmp_path, "y = half(x)")


@pytest.mark.parametrize(
    ("call", "declaration"),
    [
        ("call g(x, 2, y)", ""),
        ("y = half(x)", "double precision half"),
        ("call report('fine', 1)", ""),
        # The length of the text, which is passed behind the others, is missing.
        ("call report(4hfine, 1)", ""),
    ],
)
def test_calls_that_fit_or_that_old_programs_make_are_taken(tmp_path: Path, call: str, declaration: str) -> None:
    """Holleriths stand for characters."""
    assert opened(tmp_path, call, declaration) is not None
