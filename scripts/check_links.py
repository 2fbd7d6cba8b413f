"""Check the links inside a folder of HTML pages: every page, picture and anchor that a link names must exist.

    python scripts/check_links.py target/docs

Sphinx checks links between its own pages. This looks at the result, so that raw HTML, pictures, the theme and rustdoc count too. Links to
other sites are not followed: `sphinx-build -b linkcheck docs target/linkcheck` does that, with a network.
"""

from __future__ import annotations

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links of a page, and the anchors that others may link to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the attributes that link, and those that are linked to."""
        for name, value in attrs:
            if value and name in ("href", "src"):
                self.links.add(value)
            elif value and (name == "id" or (name == "name" and tag == "a")):
                self.anchors.add(value)


@cache
def parsed(path: Path) -> Page:
    """Return a page, read once."""
    return Page(path.read_text())


def broken(site: Path, page: Path) -> list[str]:
    """Return the links of a page that lead nowhere."""
    wrong = []
    for link in sorted(parsed(page).links):
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
        if target.is_dir():
            target /= "index.html"
        # rustdoc writes anchors as they are in addresses, Sphinx as they read.
        anchors = {parts.fragment, unquote(parts.fragment)}
        # Lines of a listing of rustdoc are anchors that its script makes.
        is_line = "src" in target.relative_to(site).parts if target.is_relative_to(site) else False
        # Lists of implementations in other crates, which rustdoc's script asks for and does without.
        if "trait.impl" in target.parts:
            continue
        if not target.exists():
            wrong.append(f"{link}: there is no such file")
        elif parts.fragment and target.suffix == ".html" and not is_line and not anchors & parsed(target).anchors:
            wrong.append(f"{link}: there is no such anchor")
    return wrong


def main() -> None:
    """Check a site; the exit status is 1 where a link is broken."""
    site = Path(sys.argv[1]).resolve()
    pages = sorted(site.rglob("*.html"))
    wrong = [f"{page.relative_to(site)}: {what}" for page in pages for what in broken(site, page)]
    if wrong or not pages:
        sys.exit("\n".join(["broken links:", *wrong]) if pages else f"{site} has no pages")
    print(f"{len(pages)} pages: every link inside the site leads somewhere")


if __name__ == "__main__":
    main()
