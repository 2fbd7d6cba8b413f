"""What a person sees on a terminal: colour and progress there, plain text everywhere else, and JSON that is only JSON.

On a pseudo-terminal of the system, with the command ``ffgrad`` as its user starts it.
"""

from __future__ import annotations

import json
import os
import pty
import selectors
import signal
import subprocess
import time
from pathlib import Path

import pytest
from support.programs import CUBE
from torture.faults.signals import alive

ROOT = Path(__file__).resolve().parents[2]
FFGRAD = ROOT / "target" / "release" / "ffgrad"
ESCAPE = "\x1b"

PLAIN = {"no colour wished": {"NO_COLOR": "1"}, "no colour to be had": {"TERM": "dumb"}}
VERBS = {
    "doctor": ["doctor"],
    "cache list": ["cache", "list"],
    "explain": ["explain", "worker-failed"],
    "a mistake": ["cache", "lsit"],
    "help": ["--help"],
}


def environment(**variables: str) -> dict[str, str]:
    """Return an environment in which nothing speaks for or against colour but these variables."""
    decides = ("NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR", "CI")
    env = {name: value for name, value in os.environ.items() if name not in decides}
    return {**env, "TERM": "xterm-256color", **variables}


def on_terminal(arguments: list[str], **variables: str) -> str:
    """Run the command with all three streams on a terminal; return what it wrote there."""
    ours, theirs = pty.openpty()
    env = environment(**variables)
    process = subprocess.Popen([str(FFGRAD), *arguments], env=env, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    said = b""
    try:
        # Not `select`, which knows no descriptor above 1023: a process of many tests has more.
        waiting = selectors.DefaultSelector()
        waiting.register(ours, selectors.EVENT_READ)
        while waiting.select(120):
            # The end of a terminal is an error on Linux.
            try:
                piece = os.read(ours, 65536)
            except OSError:
                break
            if not piece:
                break
            said += piece
        process.wait(60)
    finally:
        process.kill()
        os.close(ours)
    return said.decode(errors="replace")


def in_pipes(arguments: list[str], **variables: str) -> str:
    """Run the command with pipes; return both outputs."""
    done = subprocess.run([str(FFGRAD), *arguments], env=environment(**variables), capture_output=True, text=True)
    return done.stdout + done.stderr


@pytest.mark.parametrize("verb", ["a mistake", "help"])
def test_a_terminal_has_colour(verb: str) -> None:
    """Where there is something to set apart."""
    assert ESCAPE in on_terminal(VERBS[verb])


@pytest.mark.parametrize("verb", VERBS)
def test_what_is_no_terminal_has_none(verb: str, cache: Path) -> None:
    """And says the same otherwise."""
    piped = in_pipes(VERBS[verb])
    assert piped.strip() and ESCAPE not in piped
    for variables in PLAIN.values():
        shown = on_terminal(VERBS[verb], COLUMNS="100", **variables)
        assert ESCAPE not in shown and "\r\n" in shown
        assert shown.split()[:8] == piped.split()[:8]


@pytest.mark.parametrize("variables", [{}, *PLAIN.values()], ids=["colour", *PLAIN])
@pytest.mark.parametrize("arguments", [["doctor"], ["cache", "list"]], ids=" ".join)
def test_json_on_a_terminal_is_json(arguments: list[str], variables: dict[str, str], cache: Path) -> None:
    """Whatever the terminal can do."""
    shown = on_terminal([*arguments, "--json"], **variables)
    assert ESCAPE not in shown
    assert isinstance(json.loads(shown), dict | list)


def test_a_check_says_the_same_on_a_terminal(cache: Path, tmp_path: Path) -> None:
    """Its lines are of text alone."""
    source = tmp_path / "cube.c"
    source.write_text(CUBE)
    arguments = ["check", str(source), "cube", "--signature", "x[n] -> y[n]"]
    piped, shown = in_pipes(arguments), on_terminal(arguments)
    assert ESCAPE not in piped and ESCAPE not in shown
    assert [line.rstrip() for line in shown.splitlines()] == [line.rstrip() for line in piped.splitlines()]


# Takes the place of Python with pip: brings half of what is wanted, slowly, with a child of its own.
PIP = """\
#!/bin/bash
[ "$3" = --version ] && exit 0
sleep {seconds} & echo "$$ $!" > "{folder}/new"; mv "{folder}/new" "{folder}/pids"
wait
echo "ERROR: no matching distribution" >&2
exit 1
"""


def slow_pip(folder: Path, seconds: float) -> dict[str, str]:
    """Return an environment in which downloads take so long, and fail then."""
    python = folder / "python"
    python.write_text(PIP.format(folder=folder, seconds=seconds))
    python.chmod(0o755)
    return {"FFGRAD_PYTHON": str(python), "FFGRAD_TOOLS_DIR": str(folder / "tools")}


INSTALL = ["toolchain", "install", "openmp"]


def test_progress_is_drawn_on_a_terminal_only(tmp_path: Path) -> None:
    """A bar there, a line a step elsewhere."""
    pip = slow_pip(tmp_path, 0.6)
    assert f"{ESCAPE}[" in on_terminal(INSTALL, **pip)
    for shown in (in_pipes(INSTALL, **pip), *(on_terminal(INSTALL, **pip, **plain) for plain in PLAIN.values())):
        assert ESCAPE not in shown
        assert "ffgrad: downloading" in shown and "no matching distribution" in shown


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGKILL"])
def test_a_download_ends_with_the_command(name: str, tmp_path: Path) -> None:
    """Neither pip nor its children go on where the command alone is ended; the next installation sweeps what is left."""
    env = environment(**slow_pip(tmp_path, 3000))
    # Shells start what runs in the background with SIGINT ignored.
    default = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731
    pipe = subprocess.PIPE
    with subprocess.Popen([str(FFGRAD), *INSTALL], env=env, stdout=pipe, stderr=pipe, preexec_fn=default) as process:
        pids = tmp_path / "pids"
        until = time.monotonic() + 60
        while not pids.exists() and time.monotonic() < until:
            time.sleep(0.02)
        left = [int(pid) for pid in pids.read_text().split()]
        assert all(alive(pid) for pid in left)
        process.send_signal(getattr(signal, name))
        process.wait(60)
    until = time.monotonic() + 20
    while any(alive(pid) for pid in left) and time.monotonic() < until:
        time.sleep(0.02)
    assert not any(alive(pid) for pid in left)
    assert "no matching distribution" in in_pipes(INSTALL, **slow_pip(tmp_path, 0))
    assert not list((tmp_path / "tools" / ".staging").iterdir())
