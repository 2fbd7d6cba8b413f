"""The directive `errors`: every code that an error can carry, from `core-ad/src/diagnostics/codes.rs`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from repository import ROOT, page_of
from sphinx.util.docutils import SphinxDirective

CODES = ROOT / "core-ad/src/diagnostics/codes.rs"
LITERAL = r'"((?:[^"\\]|\\.)*)"'


def codes() -> list[tuple[str, str, str, str]]:
    """Return name, exception, meaning and remedy of each code, in the source's order."""
    text = CODES.read_text()
    body = text[text.index("pub const ALL") :].split("\n};")[0]
    found = re.findall(rf"^    {LITERAL} {LITERAL}\s+{LITERAL}\s+{LITERAL}$", body, re.MULTILINE)
    if not found:
        raise ValueError(f"{CODES} has no codes that this can read")
    return [tuple(re.sub(r"\\(.)", r"\1", part) for part in row) for row in found]  # type: ignore[misc]


def linked(text: str) -> str:
    """Make the pages that a remedy names links."""

    def link(match: re.Match[str]) -> str:
        page = page_of(ROOT / match[0])
        return f"[{Path(match[0]).stem}](../{page}.md)" if page else match[0]

    return re.sub(r"docs/[\w/-]+\.md", link, text)


class Errors(SphinxDirective):
    """One section a code, so that each has an address."""

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        self.env.note_dependency(str(CODES))
        lines = []
        for name, kind, meaning, remedy in codes():
            lines += [f"## {name}", "", f"`{kind}`. {meaning}", "", f"**What to do.** {linked(remedy)}", ""]
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


def setup(app: Any) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("errors", Errors)
    return {"version": "1", "parallel_read_safe": True}
