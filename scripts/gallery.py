"""Run examples and keep their pictures in ``docs/gallery``, where the site shows them.

    .venv/bin/python scripts/gallery.py                 every picture: some minutes
    .venv/bin/python scripts/gallery.py lens argon      those of some pages

A page of the gallery whose picture has another name than the page is in ``PICTURES``.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs/gallery"
PICTURES = {"gmm": "gmm_wine", "fortran": "predator"}
ENVIRONMENTS = {"jax_predators": ".venv-jax", "tf_pendulum": ".venv-tf"}
WIDTH = 1100


def script_of(page: str) -> str:
    """Return the script that a page names."""
    found = re.search(r"^```\{example\} (\S+)$", (PAGES / f"{page}.md").read_text(), re.MULTILINE)
    if not found:
        raise SystemExit(f"docs/gallery/{page}.md names no example")
    return found[1]


def keep(page: str) -> None:
    """Run a page's example, and keep its picture no wider than the site shows it."""
    from PIL import Image

    out = ROOT / "examples/out"
    python = ROOT / ENVIRONMENTS.get(page, ".venv") / "bin/python"
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "MPLBACKEND": "Agg"}
        subprocess.run([python, ROOT / "examples" / script_of(page)], cwd=folder, env=environment, check=True)
    picture = Image.open(out / f"{PICTURES.get(page, page)}.png").convert("RGB")
    picture.thumbnail((WIDTH, WIDTH))
    # 256 colours: a third of the bytes, and plots have few.
    picture.quantize(256, dither=Image.Dither.NONE).save(PAGES / f"{page}.png", optimize=True)
    print(f"kept {PAGES / f'{page}.png'}")


def main() -> None:
    """Keep what is asked for."""
    wanted = sys.argv[1:] or sorted(path.stem for path in PAGES.glob("*.png"))
    for page in wanted:
        keep(page)


if __name__ == "__main__":
    main()
