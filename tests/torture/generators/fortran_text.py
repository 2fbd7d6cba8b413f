"""Lays out Fortran text: indented free form, or fixed form with its columns."""

from __future__ import annotations

import re

FREE, FIXED = 110, 72
OPENS = re.compile(
    r"(?:\w+: )?do\b|if \(.*\) then$|else\b|select case|case\b|block$|where \(\w+\)$|elsewhere$|type :: |abstract interface|module \w+$|contains$"
    r"|(?:recursive )?(?:real\(\w+\) )?(?:subroutine|function) "
)
CLOSES = re.compile(r"end\b|else\b|elsewhere$|case\b|contains$")
LABEL = re.compile(r"(\d+) +(.*)")


def laid_out(text: str, fixed: bool) -> str:
    """Indent and wrap lines of Fortran that have neither."""
    lines, depth = [], 0
    for line in filter(None, (line.strip() for line in text.splitlines())):
        label, rest = found.groups() if (found := LABEL.match(line)) else ("", line)
        # A case stands two levels inside its select, so that both ends of the block count alike.
        depth -= bool(CLOSES.match(rest)) + (rest == "end select")
        lines += wrapped(label, rest, max(depth, 0), fixed)
        depth += bool(OPENS.match(rest)) + rest.startswith("select case")
    return "\n".join(lines) + "\n"


def wrapped(label: str, text: str, depth: int, fixed: bool) -> list[str]:
    """Return a statement as lines: the first with its label, the others marked as its continuation."""
    start = f"{label:<6}" if fixed or label else ""
    lines, line = [], start + " " * max(2 * depth - (0 if fixed else len(start)), 0)
    room = (FIXED if fixed else FREE) - 2
    for word in text.split(" "):
        if len(line) + len(word) > room and line.strip() != label:
            lines.append(line.rstrip() + ("" if fixed else " &"))
            line = ("     & " if fixed else " ") + " " * (2 * depth + 2)
        line += word + " "
    return [*lines, line.rstrip()]
