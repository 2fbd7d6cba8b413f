"""The two packagings of Enzyme behind one trait: the catalyst driver, and a pass plugin through ``opt``.

No plugin for LLVM 22 can be had from the registries, so a stand-in ``opt-22`` is used that takes a plugin's command line
and has catalyst do the work: what is tested is that the plugin is found, called as Enzyme's manual says, and read back.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys, torch
from ffgrad.torch import enzyme
f = enzyme(sys.argv[1], "cube", engine=sys.argv[2])
x = torch.tensor([1.0, 2.0, -3.0], dtype=torch.float64, requires_grad=True)
f.apply(x).sum().backward()
print(x.grad.tolist())
"""

OPT = """#!/bin/sh
# Takes: -load-pass-plugin=P -load P -enzyme-...=... -passes=enzyme,... -S INPUT -o OUTPUT
[ "$1" = --version ] && { echo "LLVM version 22.1.8"; exit 0; }
options=""; passes=""
while [ $# -gt 0 ]; do
  case "$1" in
    -load) shift ;;
    -load-pass-plugin=*) ;;
    -enzyme-*) options="$options -$1" ;;
    -passes=enzyme,*) passes=yes ;;
    -S) ;;
    -o) shift; output="$1" ;;
    *) input="$1" ;;
  esac
  shift
done
[ -n "$passes" ] || { echo "no enzyme pass asked for" >&2; exit 2; }
echo ran >> "$0.ran"
"$CATALYST" --tool=llc - -o - $options < "$input" > "$output"
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "cube.c"
    path.write_text(
        "void cube(const double* x, int n, double* y) { for (int i = 0; i < n; i++) y[i] = x[i] * x[i] * x[i]; }\n"
    )
    return path


def _tools() -> Path:
    folder = os.environ.get("FFGRAD_TOOLS_DIR")
    return Path(folder) if folder else Path.home() / ".local/share/ffgrad/tools"


def _run(source: Path, engine: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "FFGRAD_CACHE_DIR": str(source.parent / "cache"), **variables}
    command = [sys.executable, "-c", PROGRAM, str(source), engine]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)


def _plugin(folder: Path, major: int) -> tuple[Path, Path]:
    plugin, opt = folder / f"LLVMEnzyme-{major}.so", folder / f"opt-{major}"
    plugin.write_bytes(b"stand-in")
    opt.write_text(OPT.replace("22.1.8", f"{major}.0.0"))
    opt.chmod(0o755)
    return plugin, opt


def test_a_plugin_gives_the_same_gradient_as_catalyst(source: Path, tmp_path: Path) -> None:
    """Found by the option, run through the ``opt`` that belongs to it."""
    catalyst = next(iter(_tools().glob("pennylane-catalyst-*/bin/catalyst")), None)
    if catalyst is None:
        pytest.skip("the catalyst driver is not in the tool folder")
    plugin, opt = _plugin(tmp_path, 22)
    done = _run(source, str(plugin), FFGRAD_OPT=str(opt), CATALYST=str(catalyst))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("[3.0, 12.0, 27.0]")
    assert Path(f"{opt}.ran").read_text().split() == ["ran"], "the plugin's opt must have done it, once"
    assert _run(source, "catalyst").stdout.startswith("[3.0, 12.0, 27.0]")


def test_a_plugin_for_an_older_llvm_is_refused_with_both_versions(source: Path, tmp_path: Path) -> None:
    """It cannot read the worker's IR, and says so instead of a parse error."""
    plugin, opt = _plugin(tmp_path, 15)
    done = _run(source, str(plugin), FFGRAD_OPT=str(opt))
    assert "DifferentiationError" in done.stderr
    assert "LLVM 22 or later" in done.stderr and "LLVM 15" in done.stderr
