"""The directives `example`, for the page of one example, and `gallery`, for the grid of all.

An example is a script of `examples/` and the sources beside it. Its page shows the script's docstring, the picture of the same name
in `docs/gallery/`, the foreign source and the script. The examples run in the tests, not here; `make gallery` makes the pictures.
"""

from __future__ import annotations

import ast
import os
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from repository import DOCS, ROOT, resolved
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


class Example(SphinxDirective):
    """The page of one example: `{example} folder/script.py`."""

    required_arguments = 1
    option_spec = {"run": directives.unchanged, "sources": directives.unchanged}  # noqa: RUF012  (docutils' interface)
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return text, picture and sources."""
        script = EXAMPLES / self.arguments[0]
        picture = DOCS / "gallery" / (Path(self.env.docname).name + ".png")
        given = self.options.get("sources", "").split()
        beside = [] if script.parent == EXAMPLES else sorted(script.parent.iterdir())
        sources = [EXAMPLES / name for name in given] or [p for p in beside if p.suffix in LANGUAGES and p != script]
        lines = [
            resolved("\n".join(self.content), DOCS / f"{self.env.docname}.md", self.env.docname) or docstring(script),
            "",
        ]
        if picture.is_file():
            lines += [f"```{{image}} {picture.name}", f":alt: what {script.name} draws", ":class: picture", "```", ""]
        run = self.options.get("run", f".venv/bin/python examples/{self.arguments[0]}")
        lines += ["In a clone:", "", "```text", run, "```", ""]
        for file in [*sources, script]:
            at = os.path.relpath(file, (DOCS / self.env.docname).parent)
            lines += [
                f"## {file.name}",
                "",
                f"```{{literalinclude}} {at}",
                f":language: {LANGUAGES[file.suffix]}",
                "```",
                "",
            ]
            self.env.note_dependency(str(file))
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


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
    """Register the directives."""
    app.add_directive("example", Example)
    app.add_directive("gallery", Gallery)
    return {"version": "1", "parallel_read_safe": True}
