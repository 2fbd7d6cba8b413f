"""Builds the wheel: ``python scripts/build_wheel.py [FOLDER]``, ``target/wheels`` without an argument. ``make wheel`` calls it.

zig links everything against the symbols of glibc 2.28, so that the wheel runs on systems of 2018 and later. maturin builds the
extension; the programs and libraries in ``ffgrad/bin``, which are no Python extensions, are built by cargo the same way and put
into the wheel in place of those that ``make tools`` made for this machine alone.
"""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TARGET = "x86_64-unknown-linux-gnu"
GLIBC = "2.28"
PROFILE = "dist"
PACKAGES = ("compile-driver", "ffgrad-llvm", "ffgrad-tf", "ffgrad-torch", "ffgrad-capi")
BIN = ("ffgrad", "ffgrad-llvm", "libffgrad_tf.so", "libffgrad_torch.so")
# Every archive made from the same files is the same: the earliest time that the format knows.
TIME = (1980, 1, 1, 0, 0, 0)


def environment() -> dict[str, str]:
    """Return the environment for cargo: one build folder, no particular Python, the tools of this environment."""
    libdir = subprocess.run(
        [ROOT / "target" / "release" / "ffgrad", "toolchain", "libdir"], check=True, stdout=subprocess.PIPE, text=True
    ).stdout.strip()
    return {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "CARGO_TARGET_DIR": str(ROOT / "target"),
        "FFGRAD_LLVM_LIB_DIR": libdir,
        "FFGRAD_LINKER": "zig",
        "PYO3_BUILD_EXTENSION_MODULE": "1",
        "PYO3_NO_PYTHON": "1",
    }


def build_programs() -> Path:
    """Build programs and libraries; return their folder."""
    packages = [word for package in PACKAGES for word in ("--package", package)]
    command = ["cargo", "zigbuild", "--quiet", "--profile", PROFILE, "--target", f"{TARGET}.{GLIBC}", *packages]
    subprocess.run(command, cwd=ROOT, env=environment(), check=True)
    return ROOT / "target" / TARGET / PROFILE


def build_extension(folder: Path) -> Path:
    """Have maturin build the wheel, with whatever is in ``ffgrad/bin`` now; return its path."""
    shutil.rmtree(folder, ignore_errors=True)
    tag = "manylinux_" + GLIBC.replace(".", "_")
    # maturin puts the extension's symbols through its own check of this tag.
    chosen = ["--profile", PROFILE, "--zig", "--compatibility", tag, "--target", TARGET, "--out", str(folder)]
    subprocess.run(["maturin", "build", "--quiet", *chosen], cwd=ROOT / "py", env=environment(), check=True)
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


def main() -> None:
    """Build and say what was built."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "target" / "wheels"
    programs = build_programs()
    wheel = build_extension(folder)
    put_in(wheel, programs)
    print(f"{wheel} ({wheel.stat().st_size / 2**20:.0f} MB)")


if __name__ == "__main__":
    main()
