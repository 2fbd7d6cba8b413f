"""Builds the wheel: ``python scripts/build_wheel.py [FOLDER]``, ``target/wheels`` without an argument. ``make wheel`` calls it.

    python scripts/build_wheel.py --target aarch64-unknown-linux-gnu --llvm FOLDER target/wheels-aarch64

builds it for another processor: FOLDER has that processor's ``libLLVM.so.22.1`` (Debian's package libllvm22:arm64), which the worker is
linked with.

zig links everything against the symbols of glibc 2.28, so that the wheel runs on systems of 2018 and later. maturin builds the
extension; the programs and libraries in ``ffgrad/bin``, which are no Python extensions, are built by cargo the same way and put
into the wheel in place of those that ``make tools`` made for this machine alone.

auditwheel decides whether the wheel may have its tag. One library is excluded, by name: the worker is linked with LLVM's, 100 MB that
are no part of the wheel. ``ffgrad toolchain install`` brings it, or the system has it, and the driver starts the worker with its folder
on the loader's path; nothing that Python loads needs it.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TARGET = "x86_64-unknown-linux-gnu"
GLIBC = "2.28"
LLVM = "libLLVM.so.22.1"
PROFILE = "dist"
PACKAGES = ("compile-driver", "ffgrad-llvm", "ffgrad-tf", "ffgrad-torch", "ffgrad-capi")
BIN = ("ffgrad", "ffgrad-llvm", "libffgrad_tf.so", "libffgrad_torch.so")
# Every archive made from the same files is the same: the earliest time that the format knows.
TIME = (1980, 1, 1, 0, 0, 0)


def environment(llvm: Path | None) -> dict[str, str]:
    """Return the environment for cargo: one build folder, no particular Python, the tools of this environment."""
    command = [ROOT / "target" / "release" / "ffgrad", "toolchain", "libdir"]
    found = (
        subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip() if llvm is None else ""
    )
    return {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "CARGO_TARGET_DIR": str(ROOT / "target"),
        "FFGRAD_LLVM_LIB_DIR": str(llvm or found),
        "FFGRAD_LINKER": "zig",
        "PYO3_BUILD_EXTENSION_MODULE": "1",
        "PYO3_NO_PYTHON": "1",
    }


def build_programs(target: str = TARGET, llvm: Path | None = None) -> Path:
    """Build programs and libraries; return their folder."""
    packages = [word for package in PACKAGES for word in ("--package", package)]
    command = ["cargo", "zigbuild", "--quiet", "--profile", PROFILE, "--target", f"{target}.{GLIBC}", *packages]
    subprocess.run(command, cwd=ROOT, env=environment(llvm), check=True)
    return ROOT / "target" / target / PROFILE


def build_extension(folder: Path, target: str = TARGET, llvm: Path | None = None) -> Path:
    """Have maturin build the wheel, with whatever is in ``ffgrad/bin`` now; return its path."""
    shutil.rmtree(folder, ignore_errors=True)
    tag = "manylinux_" + GLIBC.replace(".", "_")
    # maturin puts the extension's symbols through its own check of this tag.
    chosen = ["--profile", PROFILE, "--zig", "--compatibility", tag, "--target", target, "--out", str(folder)]
    subprocess.run(["maturin", "build", "--quiet", *chosen], cwd=ROOT / "py", env=environment(llvm), check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def record(files: dict[str, bytes], name: str) -> bytes:
    """Return RECORD: path, digest and size of every file but itself."""
    lines = []
    for path, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{path},sha256={digest},{len(content)}\n")
    return "".join([*lines, f"{name},,\n"]).encode()


def put_in(wheel: Path, programs: Path) -> None:
    """Write the wheel anew, with these programs and libraries."""
    with zipfile.ZipFile(wheel) as archive:
        files = {info.filename: archive.read(info) for info in archive.infolist() if not info.is_dir()}
    (name,) = (path for path in files if path.endswith(".dist-info/RECORD"))
    del files[name]
    for path in [path for path in files if path.startswith("ffgrad/bin/")]:
        del files[path]
    files |= {f"ffgrad/bin/{file}": (programs / file).read_bytes() for file in BIN}
    files = dict(sorted(files.items(), key=lambda item: (".dist-info/" in item[0], item[0])))
    files[name] = record(files, name)
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path, content in files.items():
            runs = path.startswith("ffgrad/bin/") or path.endswith(".so")
            info = zipfile.ZipInfo(path, TIME)
            info.external_attr = (stat.S_IFREG | (0o755 if runs else 0o644)) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, content)


def audit(wheel: Path) -> None:
    """Have auditwheel give the wheel its tag again; stop where it would give another, or would have to put a library in."""
    # It takes tags of this machine's processor alone by name; of another it finds the tag.
    tag = wheel.stem.rsplit("-", 1)[-1] if TARGET.split("-")[0] in wheel.name else "auto"
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as folder:
        chosen = ["--plat", tag, "--only-plat", "--exclude", LLVM, "--wheel-dir", folder]
        command = [sys.executable, "-m", "auditwheel", "repair", *chosen, str(wheel)]
        done = subprocess.run(command, env={**os.environ, "PATH": path}, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"auditwheel refuses {wheel.name}:\n{done.stdout}{done.stderr}")
        (repaired,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(repaired) as after, zipfile.ZipFile(wheel) as before:
            more = sorted(set(after.namelist()) - set(before.namelist()))
        grafted = [name for name in more if ".so" in name]
        if repaired.name != wheel.name or grafted:
            sys.exit(f"auditwheel makes {repaired.name} of {wheel.name}, with {grafted or 'nothing'} more")


def main() -> None:
    """Build and say what was built."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "target" / "wheels")
    parser.add_argument("--target", default=TARGET)
    parser.add_argument("--llvm", type=Path, help=f"the folder that has the target's {LLVM}")
    given = parser.parse_args()
    programs = build_programs(given.target, given.llvm)
    wheel = build_extension(given.folder, given.target, given.llvm)
    put_in(wheel, programs)
    audit(wheel)
    print(f"{wheel} ({wheel.stat().st_size / 2**20:.0f} MB)")


if __name__ == "__main__":
    main()
