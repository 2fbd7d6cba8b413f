"""The wheel: what it claims to run on, what is in it, and that it works where there is nothing else.

Run by ``make test-wheel``, in the environment that has auditwheel.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import build_wheel  # noqa: E402

GLIBC = (2, 28)
# What every Linux has: the libraries that manylinux_2_28 allows and that are used here, the loader, and for the worker LLVM, which
# `ffgrad toolchain install` brings.
SYSTEM = {f"lib{name}.so.{n}" for name, n in (("c", 6), ("m", 6), ("dl", 2), ("pthread", 0), ("rt", 1), ("util", 1))}
LOADER = "ld-linux-x86-64.so.2"
LLVM = "libLLVM.so.22.1"
ELF = {f"ffgrad/bin/{name}" for name in ("ffgrad", "ffgrad-llvm", "libffgrad_tf.so", "libffgrad_torch.so")} | {
    "ffgrad/_native.abi3.so"
}
PYTHONS = [f"3.{minor}" for minor in range(10, 15)]

GRADIENT = """
import sys
import numpy as np
from ffgrad.numpy import enzyme

with open("f.c", "w") as file:
    file.write("void f(const double* x, int n, double* y) { for (int i = 0; i < n; i++) y[i] = x[i] * x[i]; }")
y, pullback = enzyme("f.c", "f").vjp(np.arange(3.0))
(gradient,) = pullback(np.ones(3))
assert gradient.tolist() == [0, 2, 4], gradient
assert not {"torch", "jax", "tensorflow"} & set(sys.modules)
print("gradient", gradient)
"""

# The system of a container: no headers, no compiler's files to link with, not even libatomic, which the installed C++ library was linked with.
BARE = """
set -e
for folder in /usr/include /usr/lib/gcc /usr/local/include; do [ ! -d $folder ] || mount -t tmpfs none $folder; done
for name in crti.o crtn.o crt1.o libc.so libm.so libatomic.so.1; do
    for file in /usr/lib/*-linux-gnu/$name /usr/lib64/$name; do [ ! -e $file ] || mount --bind /dev/null $file; done
done
exec "$@"
"""

CXX = """
import numpy as np
from ffgrad.numpy import enzyme

with open("g.cpp", "w") as file:
    file.write('''
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>
double g(const double* x, int n) {
  std::vector<double> kept;
  for (int i = 0; i < n; i++) kept.push_back(std::exp(x[i]));
  if (n > 99) throw std::runtime_error("too long: " + std::to_string(n));
  double sum = 0;
  for (double value : kept) sum += value * value;
  return sum;
}''')
x = np.array([0.1, 0.2])
f = enzyme("g.cpp", "g", "x[n] -> return")
assert np.allclose(f.grad(x), 2 * np.exp(2 * x)), f.grad(x)
try:
    f(np.zeros(100))
except RuntimeError as error:
    print("thrown", error)
"""


def elf_files(wheel: Path) -> dict[str, ELFFile]:
    """Return every program and library in the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    return {name: ELFFile(io.BytesIO(data)) for name, data in contents.items() if data[:4] == b"\x7fELF"}


def test_one_wheel_is_for_every_python_from_3_10_and_glibc_from_2_28(wheel: Path) -> None:
    """By its name and by auditwheel.

    auditwheel's own tag for the whole is ``linux``, for one reason, which is asked for here: the worker links LLVM's library, which is no
    part of the wheel. ``ffgrad toolchain install`` brings it, and the driver tells the loader where it is. With that one library excluded
    auditwheel gives the promised tag, and puts nothing in (``build_wheel.audit``, which this calls as the build did).
    """
    assert re.fullmatch(r"ffgrad-[0-9.]+-cp310-abi3-manylinux_2_28_x86_64\.whl", wheel.name)
    command = [sys.executable, "-m", "auditwheel", "show", "--json", str(wheel)]
    shown = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert shown["sym_tag"] == "manylinux_2_28_x86_64" and not shown["unsupported_isa"]
    assert shown["policy_upgrades"]["manylinux_2_28_x86_64"] == {"libs_to_eliminate": [LLVM]}
    build_wheel.audit(wheel)
    assert {name.split(".so")[0] for name in shown["versioned_symbols"]} <= {
        "libc",
        "libm",
        "libdl",
        "libpthread",
        "librt",
        "libLLVM",
    }


def test_the_extension_is_of_the_stable_abi(wheel: Path) -> None:
    """Every symbol of Python that it needs is in the stable ABI of 3.10, which 3.14 has too."""
    audited = subprocess.run(
        [sys.executable, "-m", "abi3audit", "--strict", "--report", str(wheel)], capture_output=True, text=True
    )
    assert audited.returncode == 0, audited.stdout + audited.stderr


def test_no_program_or_library_needs_a_newer_glibc_or_another_library(wheel: Path) -> None:
    """Executables too, which auditwheel does not look into."""
    files = elf_files(wheel)
    assert set(files) == ELF
    for name, elf in files.items():
        dynamic = elf.get_section_by_name(".dynamic")
        needed = {tag.needed for tag in dynamic.iter_tags() if tag.entry.d_tag == "DT_NEEDED"}
        assert needed <= SYSTEM | {LOADER} | ({LLVM} if name.endswith("ffgrad-llvm") else set()), name
        sections = [section for section in elf.iter_sections() if isinstance(section, GNUVerNeedSection)]
        versions = {aux.name for section in sections for _, auxs in section.iter_versions() for aux in auxs}
        numbers = [tuple(map(int, v.removeprefix("GLIBC_").split("."))) for v in versions if v.startswith("GLIBC_2")]
        assert max(numbers) <= GLIBC, (name, max(numbers))
        assert not elf.get_section_by_name(".debug_info"), name


def test_nothing_that_is_needed_is_in_no_old_glibc(wheel: Path) -> None:
    """A linker lets libraries need symbols that no library has: ``gettid``, which glibc has since 2.30, would be found missing by a user."""
    given = {"ffgrad/_native.abi3.so": ("Py", "_Py"), "ffgrad/bin/ffgrad-llvm": ("LLVM",)}
    for name, elf in elf_files(wheel).items():
        symbols, versions = elf.get_section_by_name(".dynsym"), elf.get_section_by_name(".gnu.version")
        lacking = [
            symbol.name
            for i, symbol in enumerate(symbols.iter_symbols())
            if symbol.entry.st_shndx == "SHN_UNDEF" and symbol.entry.st_info.bind == "STB_GLOBAL"
            # 0 and 1: of no version.
            if versions.get_symbol(i)["ndx"] in ("VER_NDX_LOCAL", "VER_NDX_GLOBAL", 0, 1)
        ]
        assert [symbol for symbol in lacking if not symbol.startswith(given.get(name, ("\0",)))] == [], name


def test_the_prover_keeps_files_away_from_checks(wheel: Path) -> None:
    """Its own ``open`` comes before libc's where it is exported."""
    symbols = elf_files(wheel)["ffgrad/bin/ffgrad"].get_section_by_name(".dynsym")
    exported = {symbol.name for symbol in symbols.iter_symbols() if symbol.entry.st_shndx != "SHN_UNDEF"}
    assert {"open", "openat", "fopen", "unlink", "rename"} <= exported


def test_the_record_and_the_licences_are_complete(wheel: Path) -> None:
    """Each file with its digest; ffgrad's licence and those of what is linked in."""
    with zipfile.ZipFile(wheel) as archive:
        (record,) = (name for name in archive.namelist() if name.endswith("/RECORD"))
        info = record.removesuffix("/RECORD")
        rows = [line.split(",") for line in archive.read(record).decode().splitlines()]
        assert {row[0] for row in rows} == set(archive.namelist())
        for path, digest, _ in rows:
            content = hashlib.sha256(archive.read(path)).digest()
            assert path == record or digest == "sha256=" + base64.urlsafe_b64encode(content).rstrip(b"=").decode()
        assert {f"{info}/licenses/LICENSE", f"{info}/licenses/THIRD-PARTY.txt"} <= set(archive.namelist())
        assert "ffgrad=ffgrad.__main__:main" in archive.read(f"{info}/entry_points.txt").decode().replace(" ", "")
        runs = {name for name in ELF if name.startswith("ffgrad/bin/")}
        assert all(archive.getinfo(name).external_attr >> 16 & 0o111 for name in runs)


def test_an_index_would_take_it(wheel: Path) -> None:
    """Its metadata is as package indexes want it."""
    checked = subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", str(wheel)], capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the environment of somebody who has nothing yet: an empty home, the system's own programs."""
    home = tmp_path_factory.mktemp("home")
    kept = {name: value for name, value in os.environ.items() if "PIP" in name or "proxy" in name.lower()}
    return {**kept, "HOME": str(home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}


def interpreter(version: str) -> str | None:
    """Return a Python of this version."""
    for candidate in (shutil.which(f"python{version}"), *Path.home().glob(f".pyenv/versions/{version}.*/bin/python")):
        # A shim can be there without its Python.
        if candidate and subprocess.run([candidate, "-c", "import venv"], capture_output=True).returncode == 0:
            return str(candidate)
    return None


@pytest.mark.parametrize("version", PYTHONS)
def test_it_works_in_an_empty_environment(version: str, wheel: Path, machine: dict[str, str], tmp_path: Path) -> None:
    """Wheel, one command, gradient; the first Python downloads the compilers, the others find them."""
    python = interpreter(version)
    if python is None:
        pytest.skip(f"there is no Python {version} here")
    subprocess.run([python, "-m", "venv", str(tmp_path / "venv")], check=True)
    bin = tmp_path / "venv" / "bin"

    def run(*command: str) -> str:
        done = subprocess.run(command, env=machine, cwd=tmp_path, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout

    run(str(bin / "pip"), "install", "--quiet", "--disable-pip-version-check", str(wheel))
    assert "No broken requirements" in run(str(bin / "pip"), "check")
    said = run(str(bin / "ffgrad"), "toolchain", "install")
    assert "installed: " in said or "every tool is there" in said
    assert "gradient [0. 2. 4.]" in run(str(bin / "python"), "-c", GRADIENT)
    assert run(str(bin / "python"), "-m", "ffgrad", "--version").startswith("ffgrad ")


def test_the_tools_come_from_a_folder_too(wheel: Path, machine: dict[str, str], tmp_path: Path) -> None:
    """What --print lists, pip fetches, and --from installs where pip can reach nothing."""
    python = sys.executable
    subprocess.run([python, "-m", "venv", str(tmp_path / "venv")], check=True)
    bin, files = tmp_path / "venv" / "bin", tmp_path / "files"
    apart = {**machine, "FFGRAD_TOOLS_DIR": str(tmp_path / "tools")}

    def run(*command: str, **variables: str) -> str:
        env = {**apart, **variables}
        done = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout

    run(str(bin / "pip"), "install", "--quiet", "--disable-pip-version-check", str(wheel))
    text = run(str(bin / "ffgrad"), "toolchain", "install", "--all", "--print")
    (tmp_path / "wanted.txt").write_text(text)
    call = text.splitlines()[0].removeprefix("# pip ").replace("THIS_FILE", "wanted.txt").replace("FOLDER", str(files))
    run(str(bin / "pip"), *call.split())
    # No index answers from here on.
    offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": ""}
    assert "installed: " in run(str(bin / "ffgrad"), "toolchain", "install", "--all", "--from", str(files), **offline)
    assert "gradient [0. 2. 4.]" in run(str(bin / "python"), "-c", GRADIENT, **offline)


def test_it_works_where_the_system_has_no_headers(wheel: Path, machine: dict[str, str], tmp_path: Path) -> None:
    """Containers have the C library, and nothing to compile or to link with it; C and C++, and exceptions."""
    bare = ["unshare", "--mount", "bash", "-c", BARE, "bash"]
    if subprocess.run([*bare, "true"], capture_output=True).returncode != 0:
        pytest.skip("mounting in a namespace of one's own is not allowed here")
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    bin = tmp_path / "venv" / "bin"
    env = {**machine, "FFGRAD_TOOLS_DIR": str(tmp_path / "tools"), "FFGRAD_CACHE_DIR": str(tmp_path / "cache")}

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        done = [*bare, *command]
        return subprocess.run(done, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=600)

    assert run(str(bin / "pip"), "install", "--quiet", "--disable-pip-version-check", str(wheel)).returncode == 0
    installed = run(str(bin / "ffgrad"), "toolchain", "install")
    assert "installed: libc-headers-" in installed.stdout, installed.stdout + installed.stderr
    values = run(str(bin / "python"), "-c", GRADIENT)
    assert "gradient [0. 2. 4.]" in values.stdout, values.stderr
    cxx = run(str(bin / "python"), "-c", CXX)
    assert "thrown" in cxx.stdout and "too long" in cxx.stdout, cxx.stderr
    doctor = run(str(bin / "ffgrad"), "doctor")
    assert doctor.returncode == 0, doctor.stdout
