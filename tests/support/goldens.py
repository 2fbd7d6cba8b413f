"""Compares errors with golden texts in ``../goldens/``. ``FFGRAD_UPDATE_GOLDENS=1`` writes them; paths are masked."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

GOLDENS = Path(__file__).resolve().parents[1] / "goldens"
NEGATIVE = GOLDENS.parent / "cases" / "negative"
UPDATE = bool(os.environ.get("FFGRAD_UPDATE_GOLDENS"))

Golden = Callable[[str, BaseException], None]


@pytest.fixture
def golden(tmp_path: Path) -> Golden:
    """Return ``golden(name, error)``: the error's text is that of ``goldens/name.txt``."""

    def golden(name: str, error: BaseException) -> None:
        text = masked(f"{type(error).__name__}: {error}\n", tmp_path)
        path = GOLDENS / f"{name}.txt"
        if UPDATE:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        assert path.is_file(), f"no golden {path.name}: run with FFGRAD_UPDATE_GOLDENS=1\n{text}"
        assert text == path.read_text()

    return golden


def masked(text: str, tmp_path: Path) -> str:
    """Take out what differs from machine to machine."""
    folders = {os.environ["FFGRAD_CACHE_DIR"]: "<cache>", str(tmp_path): "<tmp>", str(NEGATIVE): "<negative>"}
    for folder, name in folders.items():
        text = text.replace(folder, name)
    # Numbers of metadata, and what differs from one version of the C and C++ libraries, or one processor, to the next.
    text = re.sub(r"(!dbg |!srcloc |#)!?\d+", r"\1<number>", text)
    text = re.sub(r"  inside .*", "  inside <header>", text)
    text = re.sub(r"(Illegal updateAnalysis prev:).*", r"\1<types>", text)
    text = re.sub(r"inline_asm\.c:\d+", "inline_asm.c:<line>", text)
    text = re.sub(r"(__asm__\(|caching call: ).*", r"\1<instruction>", text)
    text = re.sub(r"<cache>/v\d+/", "<cache>/<format>/", text)
    text = re.sub(r"/refused-[0-9a-f]+-", "/refused-<key>-", text)
    return re.sub(r"/staging/build-[\w-]+/", "/staging/<build>/", text)
