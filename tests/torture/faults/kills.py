"""Sends SIGKILL at random moments of builds; expects that no corrupt file is loaded, no lock stays, and pruning removes the rest.

Every build uses a source of its own and is killed with its process alone, as a scheduler's out-of-memory killer does. After some
kills an unharmed process builds the same function in the same cache: it has to come through, and right.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from torture.faults.races import CUBE, RACER, RIGHT

FFGRAD = "ffgrad"


@dataclass
class Kills:
    """What killing gave."""

    kills: int = 0
    ended_before: int = 0
    checked: int = 0
    wrong: list[str] = field(default_factory=list)
    most_left: int = 0
    left_after_pruning: int = 0
    damaged: int = 0

    @property
    def passed(self) -> bool:
        """Whether all is as it should be."""
        one_each = self.most_left <= self.kills
        return not self.wrong and one_each and self.left_after_pruning == 0 and self.damaged == 0


def ffgrad_command() -> str:
    """Return the ``ffgrad`` command of this clone, or the one that the environment names."""
    given = os.environ.get("FFGRAD_COMMAND")
    beside = Path(__file__).resolve().parents[3] / "target" / "release" / "ffgrad"
    return given or (str(beside) if beside.exists() else FFGRAD)


def start(source: Path, folder: Path, env: dict[str, str]) -> subprocess.Popen[str]:
    """Start a build in a process of its own."""
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", RACER, str(source), str(folder)]
    return subprocess.Popen(command, env=env, stdout=pipe, stderr=pipe, text=True)


def kill(count: int, seed: int = 0, every: int = 10) -> Kills:
    """Kill ``count`` builds; after every few, let one through."""
    rng, result = random.Random(seed), Kills()
    with tempfile.TemporaryDirectory(prefix="ffgrad-kills-") as name:
        folder = Path(name)
        cache = folder / "cache"
        env = {**os.environ, "FFGRAD_CACHE_DIR": str(cache), "OPENBLAS_NUM_THREADS": "1"}
        (folder / "go").touch()
        longest = 1.0
        for i in range(count):
            source = folder / f"cube{i // every}.c"
            source.write_text(CUBE + f"/* {i // every} */\n")
            for ready in folder.glob("ready*"):
                ready.unlink()
            process = start(source, folder, env)
            while not any(folder.glob("ready*")) and process.poll() is None:
                time.sleep(0.002)
            time.sleep(rng.uniform(0.0, longest))
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                result.kills += 1
                longest *= 1.02
            else:
                # Moments are to be spread over the whole build, whatever that takes here.
                result.ended_before += 1
                longest *= 0.95
            process.communicate()
            staging = next(cache.glob("v*/staging"), None)
            result.most_left = max(result.most_left, len(list(staging.iterdir())) if staging else 0)
            if i % every == every - 1:
                out, err = start(source, folder, env).communicate(timeout=300)
                result.checked += 1
                if out.strip() != RIGHT:
                    result.wrong.append(err.strip()[-300:] or out)
        check_house(env, result)
    return result


def check_house(env: dict[str, str], result: Kills) -> None:
    """Prune, and look for what is damaged or left."""
    command = ffgrad_command()
    subprocess.run([command, "cache", "prune"], env=env, check=True, capture_output=True)
    staging = next(Path(env["FFGRAD_CACHE_DIR"]).glob("v*/staging"))
    result.left_after_pruning = len(list(staging.iterdir()))
    verified = subprocess.run([command, "cache", "verify", "--json"], env=env, capture_output=True, text=True)
    result.damaged = len(json.loads(verified.stdout)["damaged"])


def report(k: Kills) -> str:
    """Return the figures as text."""
    return (
        f"builds killed: {k.kills} ({k.ended_before} ended before), then {k.checked} unharmed ones: {len(k.wrong)} wrong or stuck; "
        f"at most {k.most_left} staging folders left, {k.left_after_pruning} after pruning; {k.damaged} damaged entries"
    )
