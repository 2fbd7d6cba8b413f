"""A CUDA driver made for tests, loaded in place of NVIDIA's before ffgrad looks for one.

Device memory is the host's and the CPU device does what a launch would do, so that all of ffgrad's own half runs: finding the device,
contexts, loading, parameters, streams, memory, errors. Skipped where there is a driver: those machines have the tests on a GPU.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fake_driver import Driver

SOURCE = Path(__file__).with_name("fake_cuda.c")


@pytest.fixture(scope="session")
def _library(tmp_path_factory: pytest.TempPathFactory) -> Any:
    if ctypes.util.find_library("cuda") is not None:
        pytest.skip("there is an NVIDIA driver: test_cuda_gpu.py has its tests")
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler for the driver")
    library = tmp_path_factory.mktemp("driver") / "libcuda.so"
    command = [compiler, "-std=gnu11", "-Wall", "-Werror", "-shared", "-fPIC", "-Wl,-soname,libcuda.so"]
    subprocess.run([*command, "-o", str(library), str(SOURCE)], check=True)
    # A library of this name that is loaded already is what the loader finds for everybody after.
    return ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)


@pytest.fixture
def driver(_library: Any) -> Iterator[Driver]:
    """The driver, as it is when a process starts."""
    made = Driver(_library)
    yield made
    made.reset()
