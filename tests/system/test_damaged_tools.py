"""Programs of the toolchain that are cut: the call names them and the command that installs them again, which sees the damage too."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from ffgrad.errors import ToolchainError
from ffgrad.numpy import enzyme
from support.fixtures import Write
from support.programs import CUBE

COMMAND = Path(__file__).resolve().parents[2] / "target" / "release" / "ffgrad"
DAMAGED = {
    "bin/catalyst": ("pennylane-catalyst", 1_000_000),
    "lib/libLLVM.so.22.1": ("llvm", 40_000_000),
    "lib/libclang-cpp.so.22.1": ("llvm", 400),
}


def installed() -> Path:
    """Return the folder of the installed tools."""
    given = os.environ.get("FFGRAD_TOOLS_DIR")
    data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share")
    return Path(given) if given else data / "ffgrad" / "tools"


def output(*arguments: str) -> str:
    """Return what the command prints."""
    return subprocess.run([str(COMMAND), *arguments], capture_output=True, text=True, env=dict(os.environ)).stdout


@pytest.mark.parametrize("recorded", [True, False], ids=["size recorded", "without a record of sizes"])
@pytest.mark.parametrize("file", DAMAGED)
def test_a_tool_that_is_cut_is_named_with_its_remedy(
    cache: Path, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, recorded: bool
) -> None:
    """Whether its size is known, or a trivial program shows it."""
    component, size = DAMAGED[file]
    folders = [folder for folder in installed().glob("*-*") if folder.is_dir()]
    damaged = next((folder for folder in folders if folder.name.startswith(f"{component}-")), None)
    if damaged is None or not COMMAND.exists():
        pytest.skip(f"there is no installed {component}, or no command {COMMAND}")
    tools = tmp_path / "tools"
    tools.mkdir()
    for folder in folders:
        if folder != damaged:
            (tools / folder.name).symlink_to(folder)
    own = tools / damaged.name
    shutil.copytree(damaged, own, symlinks=True, copy_function=os.link)
    (own / file).unlink()
    with (damaged / file).open("rb") as whole:
        (own / file).write_bytes(whole.read(size))
    (own / file).chmod(0o755)
    record = json.loads((own / "installed.json").read_text())
    record["sizes"] = {file: (damaged / file).stat().st_size} if recorded else {}
    (own / "installed.json").unlink()
    (own / "installed.json").write_text(json.dumps(record))
    monkeypatch.setenv("FFGRAD_TOOLS_DIR", str(tools))

    with pytest.raises(ToolchainError, match="ffgrad toolchain install") as caught:
        enzyme(write(CUBE), "cube", "x[n] -> y[n]").vjp(np.ones(2))
    # Without a record the worker is the first that does not run.
    assert "damaged" in str(caught.value) and (str(own) in str(caught.value) or "libLLVM" in str(caught.value))
    if recorded:
        assert f"`{file}` has {size} bytes" in str(caught.value)
    checks = output("doctor")
    assert "BROKEN" in checks and "libc6-dev" not in checks and "toolchain install`" in checks
    assert damaged.name in output("toolchain", "install", "--print")
