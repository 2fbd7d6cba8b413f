"""Starting programs on several ranks, for the tests of every language."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def mpi() -> dict[str, str]:
    """Return an environment with MPI on its PATH, or skip."""
    found = subprocess.run([ROOT / "scripts" / "mpi.sh"], capture_output=True, text=True, check=False)
    if found.returncode == 3 and "mpi" not in os.environ.get("FFGRAD_REQUIRE", ""):
        pytest.skip(found.stderr.strip().splitlines()[-1])
    assert found.returncode == 0, found.stderr
    return {**os.environ, "PATH": f"{found.stdout.strip()}:{os.environ['PATH']}", "OMP_NUM_THREADS": "1"}


def mpiexec(ranks: int, script: Path, *arguments: str) -> str:
    """Run a program on some ranks and return what they print."""
    env = mpi()
    # OpenMPI wants to be asked before it starts more ranks than cores, or as root.
    env |= {"OMPI_MCA_rmaps_base_oversubscribe": "1"}
    env |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    program = str(shutil.which("mpiexec", path=env["PATH"]))
    command = [program, "-n", str(ranks), sys.executable, str(script), *arguments]
    child = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert child.returncode == 0, child.stdout + child.stderr
    return child.stdout
