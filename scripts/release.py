"""Builds what is published and tries each part where nothing else is: ``python scripts/release.py``; ``make release`` calls it.

    target/release-VERSION/
      ffgrad-VERSION-cp310-abi3-manylinux_2_28_x86_64.whl    the Python package (scripts/build_wheel.py, tests/wheel)
      ffgrad-VERSION.tar.gz                                  the sources of everything: `make wheel` builds the wheel from them
      ffgrad-c-VERSION-linux-x86_64.tar.gz                   the C ABI: header, library, command, pkg-config and CMake files
      FFGrad.jl-VERSION.tar.gz                               the Julia package
      SHA256SUMS

Archives have the files that git knows, in a fixed order and with the time of the commit: the same commit gives the same archives.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import build_wheel  # beside this file

ROOT = Path(__file__).resolve().parents[1]
CAPI = ROOT / "compile-driver" / "capi"
LICENCES = ("LICENSE", "py/THIRD-PARTY.txt")


def version() -> str:
    """Return the version; stop where a part has another one, or the list of changes lacks it."""
    found = re.search(r'\[workspace\.package\]\nversion = "([^"]+)"', (ROOT / "Cargo.toml").read_text())
    assert found, "Cargo.toml names no version"
    ours = found[1]
    if f'\nversion = "{ours}"\n' not in (ROOT / "julia" / "Project.toml").read_text():
        sys.exit(f"julia/Project.toml has another version than Cargo.toml ({ours})")
    if f"\n## {ours} " not in (ROOT / "CHANGELOG.md").read_text():
        sys.exit(f"CHANGELOG.md has no section {ours}")
    return ours


def git(*arguments: str) -> str:
    """Return what git says."""
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def tracked(folder: str = "") -> dict[str, Path]:
    """Return the files that git knows below a folder, by their path from there."""
    names = git("ls-files", "-z", "--", folder or ".").split("\0")
    return {os.path.relpath(name, folder or "."): ROOT / name for name in names if name}


def pack(target: Path, top: str, files: dict[str, Path | str]) -> None:
    """Write an archive: paths below ``top``, from files or from texts; a text that begins with ``->`` is a link."""
    time = int(git("log", "-1", "--format=%ct"))
    # gzip's header would have the name and the time of the archive.
    with target.open("wb") as out, gzip.GzipFile("", "wb", 9, out, mtime=0) as zipped:
        with tarfile.open(fileobj=zipped, mode="w") as archive:
            for path, source in sorted(files.items()):
                entry = tarfile.TarInfo(f"{top}/{path}")
                entry.mtime, entry.mode, content = time, 0o644, b""
                if isinstance(source, str) and source.startswith("->"):
                    entry.type, entry.linkname = tarfile.SYMTYPE, source[2:]
                elif isinstance(source, Path) and source.is_symlink():
                    entry.type, entry.linkname = tarfile.SYMTYPE, os.readlink(source)
                else:
                    content = source.read_bytes() if isinstance(source, Path) else source.encode()
                    runs = isinstance(source, Path) and os.access(source, os.X_OK)
                    entry.mode, entry.size = 0o755 if runs else 0o644, len(content)
                archive.addfile(entry, io.BytesIO(content))


def c_files(ours: str, programs: Path) -> dict[str, Path | str]:
    """Return what the archive for C has. The library looks for worker and command in its own folder."""
    numbers = ours.split(".")
    words = {"VERSION": ours, "MAJOR": numbers[0], "MINOR": numbers[1]}

    def filled(name: str) -> str:
        return re.sub("@([A-Z]+)@", lambda match: words[match[1]], (CAPI / "package" / name).read_text())

    return {
        "include/ffgrad.h": CAPI / "include" / "ffgrad.h",
        "lib/libffgrad.so": programs / "libffgrad.so",
        "lib/ffgrad": programs / "ffgrad",
        "lib/ffgrad-llvm": programs / "ffgrad-llvm",
        "bin/ffgrad": "->../lib/ffgrad",
        "lib/pkgconfig/ffgrad.pc": filled("ffgrad.pc.in"),
        "lib/cmake/ffgrad/ffgradConfig.cmake": CAPI / "package" / "ffgradConfig.cmake",
        "lib/cmake/ffgrad/ffgradConfigVersion.cmake": filled("ffgradConfigVersion.cmake.in"),
        "share/doc/ffgrad/c-abi.md": ROOT / "docs" / "reference" / "c-abi.md",
        **{f"share/doc/ffgrad/examples/{name}": path for name, path in tracked("examples/c").items()},
        **{f"share/doc/ffgrad/{Path(name).name}": ROOT / name for name in LICENCES},
    }


def build(folder: Path, ours: str) -> None:
    """Build all archives into a folder that is made anew."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    programs = build_wheel.build_programs()
    built = build_wheel.build_extension(ROOT / "target" / "wheels")
    build_wheel.put_in(built, programs)
    build_wheel.audit(built)
    shutil.copy(built, folder)
    pack(folder / f"ffgrad-{ours}.tar.gz", f"ffgrad-{ours}", dict(tracked()))
    c_name = f"ffgrad-c-{ours}-linux-x86_64"
    pack(folder / f"{c_name}.tar.gz", c_name, c_files(ours, programs))
    julia = {**tracked("julia"), "LICENSE": ROOT / "LICENSE"}
    pack(folder / f"FFGrad.jl-{ours}.tar.gz", f"FFGrad.jl-{ours}", dict(julia))
    sums = [f"{hashlib.sha256(f.read_bytes()).hexdigest()}  {f.name}\n" for f in sorted(folder.iterdir())]
    (folder / "SHA256SUMS").write_text("".join(sums))


def run(*command: str | Path, cwd: Path, env: dict[str, str]) -> str:
    """Run a command of a check; its output is shown where it fails."""
    done = subprocess.run(command, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout}")
    return done.stdout


def unpacked(archive: Path, place: Path) -> Path:
    """Unpack an archive; return its only folder."""
    with tarfile.open(archive) as opened:
        # What a distributor would unpack: nothing outside, no device.
        if hasattr(tarfile, "data_filter"):
            opened.extractall(place, filter="data")
        else:
            opened.extractall(place)
    return place / archive.name.removesuffix(".tar.gz")


def try_c(archive: Path, ours: str, place: Path, env: dict[str, str]) -> None:
    """The example in C, built by pkg-config's flags and by CMake, moved to a folder that nobody knew before."""
    prefix = unpacked(archive, place)
    example = prefix / "share/doc/ffgrad/examples"
    env = {**env, "PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")}
    if shutil.which("pkg-config"):
        flags = run("pkg-config", "--cflags", "--libs", "ffgrad", cwd=place, env=env).split()
        run(
            "cc",
            example / "descent.c",
            *flags,
            f"-Wl,-rpath,{prefix / 'lib'}",
            "-lm",
            "-o",
            "descent",
            cwd=place,
            env=env,
        )
        say("C, pkg-config: " + run("./descent", example / "valley.c", cwd=place, env=env).splitlines()[-1])
    else:
        say("C, pkg-config: skipped, there is none")
    project = place / "cmake"
    project.mkdir()
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(descent C)\n"
        f"find_package(ffgrad {ours} REQUIRED)\n"
        f"add_executable(descent {example / 'descent.c'})\ntarget_link_libraries(descent ffgrad::ffgrad m)\n"
    )
    cmake = [sys.executable, "-m", "cmake"]
    run(*cmake, "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={prefix}", cwd=project, env=env)
    run(*cmake, "--build", "build", cwd=project, env=env)
    say("C, CMake: " + run("build/descent", example / "valley.c", cwd=project, env=env).splitlines()[-1])


def try_julia(archive: Path, c_prefix: Path, place: Path, env: dict[str, str]) -> None:
    """A gradient by the Julia package with the library of the archive for C."""
    found = subprocess.run([ROOT / "scripts" / "julia.sh"], stdout=subprocess.PIPE, text=True)
    if found.returncode != 0:
        say("Julia: skipped, there is none (see above)")
        return
    project = unpacked(archive, place)
    (place / "f.c").write_text(
        "double f(const double *x, int n) { double s = 0; for (int i = 0; i < n; i++) s += x[i] * x[i]; return s; }"
    )
    code = 'using FFGrad; f = enzyme("f.c", "f", "x[n] -> return"); println(gradient(f, [1.0, 2.0]))'
    env = {**env, "FFGRAD_LIBRARY": str(c_prefix / "lib/libffgrad.so"), "JULIA_DEPOT_PATH": str(place / "depot")}
    say(
        "Julia: "
        + run(found.stdout.strip(), "--startup-file=no", f"--project={project}", "-e", code, cwd=place, env=env).strip()
    )


def try_sources(archive: Path, place: Path, env: dict[str, str]) -> None:
    """The sources are whole: cargo finds every crate of the workspace as the lock has it."""
    folder = unpacked(archive, place)
    run("cargo", "metadata", "--locked", "--no-deps", "--format-version", "1", cwd=folder, env=env)
    say("sources: whole")


def say(text: str) -> None:
    """Report a step."""
    print(f"==> {text}", file=sys.stderr)


def main() -> None:
    """Build, try, list."""
    ours = version()
    if git("status", "--porcelain"):
        say("the work tree has changes that are not committed: no release, but a trial of one")
    folder = ROOT / "target" / f"release-{ours}"
    build(folder, ours)
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        for part in ("home", "c", "julia", "sources"):
            (place / part).mkdir()
        # No tool folder but the one that `ffgrad toolchain install` of the archive for C fills.
        env = {**os.environ, "HOME": str(place / "home"), "FFGRAD_CACHE_DIR": str(place / "cache")}
        # What cargo and rustup have at home is no part of what is tried.
        env |= {
            f"{tool.upper()}_HOME": os.environ.get(f"{tool.upper()}_HOME", str(Path.home() / f".{tool}"))
            for tool in ("cargo", "rustup")
        }
        try_sources(folder / f"ffgrad-{ours}.tar.gz", place / "sources", env)
        c_name = f"ffgrad-c-{ours}-linux-x86_64"
        prefix = unpacked(folder / f"{c_name}.tar.gz", place / "home")
        run(prefix / "bin/ffgrad", "toolchain", "install", cwd=place, env=env)
        try_c(folder / f"{c_name}.tar.gz", ours, place / "c", env)
        try_julia(folder / f"FFGrad.jl-{ours}.tar.gz", prefix, place / "julia", env)
    run("bash", "scripts/test.sh", "wheel", cwd=ROOT, env=dict(os.environ))
    say("wheel: tests/wheel passed")
    print((folder / "SHA256SUMS").read_text(), end="")


if __name__ == "__main__":
    main()
