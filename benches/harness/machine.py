"""Where and with what was measured: machine, processor, versions, date."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path
from typing import Any

import raw_engine

from harness.problem import REPOSITORY


def describe() -> dict[str, Any]:
    """Return what the report's head says."""
    return {
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB",
        "system": f"{platform.system()} {platform.release().split('-')[0]} {platform.machine()}, glibc {platform.libc_ver()[1]}",
        "commit": _first_line(["git", "-C", str(REPOSITORY), "describe", "--always", "--dirty"]),
        "versions": _versions(),
    }


def slug(described: dict[str, Any]) -> str:
    """Return ``<date>-<cpu>``, fit for a file's name."""
    cpu = re.sub(r"\((R|TM)\)|CPU|Processor|@.*", "", described["cpu"])
    return f"{described['date'][:10]}-{re.sub(r'[^a-z0-9]+', '-', cpu.lower()).strip('-')}"


def _cpu() -> str:
    """Name and number of the model: virtual machines hide the name, but not the number."""
    info = Path("/proc/cpuinfo")
    if not info.exists():
        return platform.processor() or platform.machine()
    fields = dict(re.findall(r"^(model name|cpu family|model)\s*:\s*(.+)$", info.read_text(), re.MULTILINE))
    number = f"family {fields.get('cpu family')} model {fields.get('model')}"
    return f"{fields.get('model name', platform.machine())} ({number})"


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in ("torch", "jax", "numpy"):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    # In a process of its own: this one loads no native code and survives its crashes.
    found["ffgrad"] = (
        _first_line([sys.executable, "-c", "import ffgrad; print(ffgrad.__version__)"]) or "not importable"
    )
    for name, find in (("clang", raw_engine.clang), ("engine", raw_engine.catalyst)):
        try:
            path = find()
        except raw_engine.MissingTool as error:
            found[name] = str(error)
            continue
        found[name] = _first_line([str(path), "--version"]) if name == "clang" else path.parents[1].name
    found["c++"] = _first_line(["g++", "--version"])
    return found


def _first_line(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except OSError:
        return "not installed"
    return done.stdout.strip().split("\n")[0]


if __name__ == "__main__":
    print(describe(), file=sys.stdout)
