"""Blocks `{example}`, for the page of one example, and the directive `{gallery}`, for the grid of all.

An example is a script of `examples/` and the sources beside it. Its page shows the script's docstring, the picture of the same name
in `docs/gallery/`, the foreign source and the script. The examples run in the tests, not here; `make gallery` makes the pictures.
"""

from __future__ import annotations

import ast
import os
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from repository import DOCS, ROOT
from sphinx.util.docutils import SphinxDirective

EXAMPLES = ROOT / "examples"
LANGUAGES = {
    ".c": "c",
    ".cpp": "cpp",
    ".cu": "cuda",
    ".f": "fortranfixed",
    ".f90": "fortran",
    ".jl": "julia",
    ".py": "python",
}


def docstring(script: Path) -> str:
    """Return what a script says about itself."""
    if script.suffix == ".py":
        return ast.get_docstring(ast.parse(script.read_text())) or ""
    return ""


BLOCK = re.compile(r"^```\{example\} (\S+)\n((?::\w+: [^\n]*\n)*)(.*?)^```$", re.MULTILINE | re.DOTALL)


def expand(app: Any, page: str, source: list[str]) -> None:
    """Put the Markdown of an example in the place of its block: `{example} folder/script.py`, options, and text for want of a docstring."""
    found = BLOCK.search(source[0]) if page.startswith("gallery/") else None
    if not found:
        return
    script, text = EXAMPLES / found[1], found[3]
    options = dict(re.findall(r"^:(\w+): (.*)$", found[2], re.MULTILINE))
    picture = DOCS / f"{page}.png"
    given = options.get("sources", "").split()
    beside = [] if script.parent == EXAMPLES else sorted(script.parent.iterdir())
    sources = [EXAMPLES / name for name in given] or [p for p in beside if p.suffix in LANGUAGES and p != script]
    lines = [text or docstring(script).replace("``", "`"), ""]
    if picture.is_file():
        lines += [f"```{{image}} {picture.name}", f":alt: what {script.name} draws", ":class: picture", "```", ""]
    run = options.get("run", f".venv/bin/python examples/{found[1]}")
    lines += ["Run it in a clone:", "", "```text", run, "```", ""]
    for file in [*sources, script]:
        at = os.path.relpath(file, DOCS / "gallery")
        lines += [
            f"## {file.name}",
            "",
            f"```{{literalinclude}} {at}",
            f":language: {LANGUAGES[file.suffix]}",
            "```",
            "",
        ]
        app.env.note_dependency(str(file))
    source[0] = source[0].replace(found[0], "\n".join(lines))


class Gallery(SphinxDirective):
    """A grid of the pages named, each with its picture: one `name: a line about it` a line."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the grid."""
        lines = ["::::{grid} 1 2 2 3", ":gutter: 3", ""]
        for line in self.content:
            name, _, about = line.partition(": ")
            page = (DOCS / "gallery" / f"{name}.md").read_text()
            lines += [
                f":::{{grid-item-card}} {page.splitlines()[0].removeprefix('# ')}",
                f":link: {name}",
                ":link-type: doc",
            ]
            if (DOCS / "gallery" / f"{name}.png").is_file():
                lines += [f":img-bottom: {name}.png"]
            lines += ["", about, ":::", ""]
        return self.parse_text_to_nodes("\n".join([*lines, "::::"]))


def setup(app: Any) -> dict[str, Any]:
    """Register both."""
    app.connect("source-read", expand)
    app.add_directive("gallery", Gallery)
    return {"version": "1", "parallel_read_safe": True}
