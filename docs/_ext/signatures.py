"""Signatures of the Python page as a user reads them: no name of a private module, no constructor that nobody calls."""

from __future__ import annotations

from typing import Any

# What stands for an annotation of the package's private modules.
PUBLIC = {
    "ffgrad._core.Source": "str | os.PathLike",
    "ffgrad._core.Options | None": "dict | None",
    ": Unpack[ffgrad._core.Options]": "",
}

MADE_BY_ENZYME = "(opened: ffgrad._core.Opened"


def made_public(
    _app: Any, _what: str, _name: str, _object: object, _options: object, arguments: str | None, result: str | None
) -> tuple[str | None, str | None] | None:
    """Return the signature to show; operations are made by ``enzyme``, so their classes have none."""
    if arguments is None:
        return None
    if arguments.startswith(MADE_BY_ENZYME):
        return "", None
    for private, public in PUBLIC.items():
        arguments = arguments.replace(private, public)
    return arguments, result


def setup(app: Any) -> dict[str, Any]:
    """Register the hook."""
    app.connect("autodoc-process-signature", made_public)
    return {"version": "1", "parallel_read_safe": True}
