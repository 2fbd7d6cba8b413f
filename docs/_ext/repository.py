"""Links from the site's pages into the repository, and pages whose text is a document at the repository's root.

In: the Markdown of a page, whose links are relative to its file, as a reader of the repository follows them. Out: links to pages of
the site where there is one; else the link's text, since the site has no copy of that file. A link to what does not exist is a warning.
"""

from __future__ import annotations

import ast
import os
import re
from pathlib import Path
from typing import Any

from sphinx.util import logging

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
LOG = logging.getLogger(__name__)

# Pages of the site that are documents elsewhere in the repository.
MIRRORED = {
    "reference/cache": "CACHING.md",
    "understanding/architecture": "ARCHITECTURE.md",
    "contributing": "CONTRIBUTING.md",
    "changes": "CHANGELOG.md",
}
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
FENCE = re.compile(r"^(`{3,}|~{3,}).*?^\1`*$", re.MULTILINE | re.DOTALL)


def page_of(path: Path) -> str | None:
    """Return the name of the page that a file of the repository is, if it is one."""
    relative = os.path.relpath(path, ROOT)
    for page, mirrored in MIRRORED.items():
        if relative == mirrored:
            return page
    if relative == "README.md":
        return "index"
    if relative == "examples/README.md":
        return "gallery/index"
    if relative.startswith("docs/") and path.suffix == ".md":
        return relative.removeprefix("docs/").removesuffix(".md")
    if relative.startswith("examples/"):
        # An example's page has its script's folder as its name.
        page = DOCS / "gallery" / (relative.split("/")[1].removesuffix(".py") + ".md")
        return f"gallery/{page.stem}" if page.is_file() else None
    return None


def resolved(text: str, file: Path, page: str) -> str:
    """Return a page's text with its links to files of the repository resolved."""

    def link(match: re.Match[str]) -> str:
        label, target = match.groups()
        line = match.string[match.string.rfind("\n", 0, match.start()) + 1 : match.start()]
        in_code = line.count("`") % 2 == 1
        if in_code or re.match(r"[a-z]+:|#|<", target):
            return match[0]
        path, _, anchor = target.partition("#")
        wanted = (file.parent / path).resolve()
        if not wanted.exists():
            LOG.warning("%s links to %s, which does not exist", os.path.relpath(file, ROOT), target)
            return label
        other = page_of(wanted)
        if other is None:
            # `examples/c/descent.c` reads better than a word that looks like a link and is none.
            return f"`{label}`" if "/" in label and "`" not in label else label
        at = os.path.relpath(other, os.path.dirname(page) or ".")
        # The README has sections that the site has elsewhere.
        return f"[{label}]({at}.md{'#' + anchor if anchor and other != 'index' else ''})"

    pieces, end = [], 0
    for fence in FENCE.finditer(text):
        # Blocks with braces are directives of MyST, whose text may have links; others are code.
        code = not fence[0].lstrip("`~").startswith("{")
        pieces += [LINK.sub(link, text[end : fence.start()]), fence[0] if code else LINK.sub(link, fence[0])]
        end = fence.end()
    return "".join(pieces) + LINK.sub(link, text[end:])


def read(app: Any, page: str, source: list[str]) -> None:
    """Resolve a page's links; the text of a mirrored page is that of its document."""
    file = DOCS / f"{page}.md"
    if page in MIRRORED:
        file = ROOT / MIRRORED[page]
        source[0] = file.read_text()
        app.env.note_dependency(str(file))
    if page == "index":
        source[0] = source[0].replace("(every other guide)", "\n".join(unlisted(source[0])))
    source[0] = resolved(source[0], file, page)


def unlisted(index: str) -> list[str]:
    """Return the guides (pages at the top of this folder) that the index does not name, so that a new one needs no entry."""
    listed = set(re.findall(r"^[\w/-]+$", index, re.MULTILINE))
    return sorted(path.stem for path in DOCS.glob("*.md") if path.stem not in listed | {"index"})


def complete(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Give the docstring of each `enzyme` the parameters and errors that the package adds when it is imported."""
    if what != "function" or name.split(".")[-1] != "enzyme" or any(line.startswith("Parameters") for line in lines):
        return
    values = {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in ast.parse((ROOT / "py/python/ffgrad/_core.py").read_text()).body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id in ("_PARAMETERS", "_ERRORS")
    }
    summary, _, returns = "\n".join(lines).partition("\n\n")
    options_page = values["_PARAMETERS"].replace(":class:`ffgrad._core.Options`", ":doc:`/reference/options`")
    lines[:] = "\n\n".join((summary, options_page, returns, values["_ERRORS"])).splitlines()


def plain(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Make the pages that docstrings name links."""
    for i, line in enumerate(lines):
        lines[i] = re.sub(r"``docs/([\w/-]+)\.md``", r":doc:`/\1`", line)


HELD: list[str] = []


def hold(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Keep a property's docstring from napoleon, which takes what stands before its first colon for a type."""
    HELD[:] = lines if what == "property" else []
    if HELD:
        lines[:] = []


def release(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Give it back."""
    if HELD:
        lines[:] = HELD


def setup(app: Any) -> dict[str, Any]:
    """Connect to Sphinx."""
    app.connect("source-read", read)
    # Before napoleon, which reads the sections.
    app.connect("autodoc-process-docstring", complete, priority=100)
    app.connect("autodoc-process-docstring", plain, priority=200)
    app.connect("autodoc-process-docstring", hold, priority=300)
    # After it.
    app.connect("autodoc-process-docstring", release, priority=900)
    return {"version": "1", "parallel_read_safe": True}
