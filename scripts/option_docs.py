"""Make the documentation of options from the doc comments of ``compile-driver/src/options.rs``.

    .venv/bin/python scripts/option_docs.py           writes what is stale
    .venv/bin/python scripts/option_docs.py --check   exits with 1 where something is stale

In: the fields of ``Options`` with comments, types and defaults; the values of enums. Out: the docstring of ``ffgrad._core.Options``
and the table of options in ``docs/reference/options.md``.
"""

from __future__ import annotations

import os
import re
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OPTIONS = ROOT / "compile-driver/src/options.rs"
PYTHON = ROOT / "py/python/ffgrad/_core.py"
PAGE = ROOT / "docs/reference/options.md"
COMMAND = ".venv/bin/python scripts/option_docs.py"

# How Python's documentation calls a Rust type; enums are sets of their values.
TYPES = {
    "Vec<String>": "list of str",
    "Vec<PathBuf>": "list of path",
    "Vec<PassName>": "list of str",
    "BTreeMap<String, Option<String>>": "dict",
    "BTreeMap<String, i64>": "dict",
    "BTreeMap<String, usize>": "dict",
    "BTreeMap<String, GivenDerivative>": "dict",
    "BTreeMap<String, Value>": "dict",
    "BTreeMap<String, Vec<String>>": "dict",
    "String": "str",
    "bool": "bool",
    "u64": "int",
    "Option<usize>": "int",
    "Option<String>": "str",
    "Option<PathBuf>": "path",
    "Vec<Extent>": "int, str, sequence of them, or callable",
    "Option<Extent>": "int, str or callable",
}


@dataclass(frozen=True)
class Option:
    """An option that a user can give."""

    name: str
    type: str
    default: str
    text: str


def sources() -> str:
    """Return the Rust sources in which enums and constants of options are defined."""
    return "\n".join(path.read_text() for path in [OPTIONS, *sorted((ROOT / "core-ad/src").rglob("*.rs"))])


def values_of(enum: str, text: str) -> tuple[list[str], str | None]:
    """Return the values of an enum as users write them, and the default."""
    found = re.search(rf"((?:#\[[^\n]*\]\n)+)pub enum {enum} \{{\n(.*?)\n\}}", text, re.DOTALL)
    if found is None:
        raise LookupError(f"no enum {enum}")
    values, default, is_default, renamed = [], None, False, None
    for line in found[2].splitlines():
        if rename := re.match(r'    #\[serde\(rename = "([^"]+)"\)\]', line):
            renamed = rename[1]
        is_default |= line.strip() == "#[default]"
        if variant := re.match(r"    (\w+),", line):
            name = variant[1]
            if "kebab-case" in found[1]:
                name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name)
            name = renamed or name.lower()
            values.append(name)
            default, is_default, renamed = (name if is_default else default), False, None
    return values, default


def read() -> list[Option]:
    """Return the options, in the order of the struct."""
    text, everything = OPTIONS.read_text(), sources()
    body = text[text.index("pub struct Options {") :].split("\n}\n")[0]
    defaults = dict(
        re.findall(r"^            (\w+): (.*),$", text[text.index("impl Default for Options") :], re.MULTILINE)
    )
    options = []
    for comment, attributes, name, kind in re.findall(
        r"((?:    ///[^\n]*\n)+)((?:    #\[[^\n]*\n)*)    pub (\w+): (.*),\n", body + "\n"
    ):
        if "skip_deserializing" in attributes:
            continue
        words = " ".join(line.strip().removeprefix("///").strip() for line in comment.splitlines())
        options.append(_option(name, kind, defaults[name], words, everything))
    return options


def _option(name: str, kind: str, default: str, words: str, everything: str) -> Option:
    if kind in TYPES:
        return Option(name, TYPES[kind], _literal(kind, default, everything), words)
    enum = re.sub(r"^(?:Vec|Option)<(\w+)>$", r"\1", kind)
    values, first = values_of(enum, everything)
    listed = ", ".join(f'`"{value}"`' for value in values)
    if kind == enum:
        return Option(name, "{" + ", ".join(f'"{value}"' for value in values) + "}", f'"{first}"', words)
    kind = "list of str" if kind.startswith("Vec") else "str"
    return Option(name, kind, "[]" if kind != "str" else "", f"{words} The values are {listed}.")


def _literal(kind: str, default: str, everything: str) -> str:
    """Return a default of Rust as Python writes it; nothing where there is none."""
    if kind == "Vec<Extent>" or default == "None":
        return ""
    plain = {"Vec::new()": "[]", "BTreeMap::new()": "{}", "true": "True", "false": "False"}
    if default in plain:
        return plain[default]
    default = default.removesuffix(".to_owned()")
    if constant := re.fullmatch(r"[\w:]*?(\w+)", default):
        found = re.search(rf'const {constant[1]}: &str = ("[^"]*");', everything)
        return found[1] if found else default
    return default


def docstring(options: list[Option]) -> str:
    """Return the section of attributes."""
    lines = ["    Attributes", "    ----------"]
    for option in options:
        text = re.sub(r"`([^`]+)`", r"``\1``", option.text)
        lines.append(f"    {option.name} : {option.type}")
        # A space in code is no place to break a line.
        kept = re.sub(r"``[^`]+``", lambda code: code[0].replace(" ", "\0"), text)
        wrapped = textwrap.wrap(kept, 112, break_long_words=False, break_on_hyphens=False)
        lines += [" " * 8 + line.replace("\0", " ") for line in wrapped]
    return "\n".join(lines) + "\n"


def table(options: list[Option]) -> str:
    """Return the page's table."""
    rows = ["| option | default | meaning |", "|---|---|---|"]
    for option in options:
        text = re.sub(r"`(\S+\.md)`", _link, option.text.removesuffix("."))
        rows.append(f"| `{option.name}` | {f'`{option.default}`' if option.default else ''} | {text} |")
    return "\n".join(rows) + "\n"


def _link(path: re.Match[str]) -> str:
    """Return a link from the page to another document, with its name as text."""
    anchor = "#what-makes-gradients-fast" if path[1] == "ARCHITECTURE.md" else ""
    return f"[{Path(path[1]).stem}]({os.path.relpath(ROOT / path[1], PAGE.parent)}{anchor})"


def replaced(text: str, start: str, stop: str, new: str) -> str:
    """Put ``new`` between two marks."""
    begin = text.index(start) + len(start)
    return text[:begin] + new + text[text.index(stop, begin) :]


def main() -> int:
    """Write or check."""
    options = read()
    python, page = PYTHON.read_text(), PAGE.read_text()
    head = '    """Options of ``enzyme``, the same in every front end.\n\n    Generated from ``compile-driver/src/options.rs``.\n\n'
    wanted = {
        PYTHON: replaced(python, head, '    """\n', docstring(options)),
        PAGE: replaced(page, "in every front end:\n\n", "\n## Notes", table(options)),
    }
    stale = [path for path, text in wanted.items() if text != path.read_text()]
    for path in stale:
        print(f"{path.relative_to(ROOT)} is stale: run {COMMAND}" if "--check" in sys.argv else f"wrote {path}")
        if "--check" not in sys.argv:
            path.write_text(wanted[path])
    return int(bool(stale) and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
