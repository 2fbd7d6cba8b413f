"""What the command ``ffgrad`` says where it is used wrongly, or where the function does not do its part; on a machine without tools, too."""

from __future__ import annotations

import json
import os
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from ffgrad import toolchain

Run = Callable[..., "subprocess.CompletedProcess[str]"]

STATS = """\
double mean(const double* x, int n) { double s = 0; for (int i = 0; i < n; i++) s += x[i]; return s / n; }
double spread(const double* x, int n) { double m = mean(x, n), s = 0; for (int i = 0; i < n; i++) s += (x[i] - m) * (x[i] - m); return s; }
"""
ENDS = """\
#include <stdlib.h>
double f(const double* x, int n) { double s = 0; for (int i = 0; i < n; i++) s += x[i] * x[i]; if (s > 0) END; return s; }
"""
WORKS = "void fill(const double* x, double* y, int n, int m) { for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) y[i * m + j] = x[i]; }\n"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Return ``run(*words, **environment)``: the command, in a folder with sources of its own."""
    (tmp_path / "stats.c").write_text(STATS)
    (tmp_path / "fill.c").write_text(WORKS)

    def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "FFGRAD_CACHE_DIR": str(tmp_path / "cache"), **environment}
        line = [toolchain.command(), *words]
        return subprocess.run(line, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300)

    return run


def refused(done: subprocess.CompletedProcess[str], status: int = 1) -> str:
    """Return the error of a command that fails."""
    assert done.returncode == status, done.stdout + done.stderr
    assert done.stderr.startswith("error: "), done.stderr
    return done.stderr


@pytest.mark.parametrize(
    ("end", "told"),
    [
        ("exit(0)", "`f` ended its process with exit status 0 at arguments that were drawn at random"),
        ("exit(1)", "`f` ended its process with exit status 1 at arguments"),
        ("abort()", "`f` crashed (abort) at arguments"),
        ("*(volatile int*)8 = 1", "`f` crashed (segmentation fault) at arguments"),
    ],
)
def test_a_function_that_ends_its_process_is_an_error(end: str, told: str, run: Run, tmp_path: Path) -> None:
    """Of ``check`` and of ``export --check``, which run it; with ``--json`` as data."""
    (tmp_path / "ends.c").write_text(ENDS.replace("END", end))
    text = refused(run("check", "ends.c", "f"))
    assert told in text and "--range NAME=LO:HI" in text
    if end == "exit(0)":
        answer = json.loads(run("check", "ends.c", "f", "--json").stdout)
        assert (answer["error"]["class"], answer["error"]["code"]) == ("ForeignError", "foreign-crash")
        assert "ended its process" in refused(run("export", "--check", "p.ffpack", "ends.c", "f"))
        assert not (tmp_path / "p.ffpack").exists()


def test_a_check_prints_and_ends_as_before(run: Run) -> None:
    """Through the process that it runs in."""
    done = run("check", "stats.c", "mean")
    assert done.returncode == 0 and "every derivative is right" in done.stdout and not done.stderr
    assert json.loads(run("check", "stats.c", "mean", "--json").stdout)["right"] is True
    assert run("check", "fill.c", "fill").returncode == 1


def test_the_functions_of_a_source_are_listed(run: Run, tmp_path: Path) -> None:
    """By ``show`` as its result, by the others as an error; also after options, and of several files."""
    assert run("show", "stats.c").stdout.split() == ["mean", "spread"]
    assert run("show", "stats.c", "fill.c").stdout.split() == ["mean", "spread", "fill"]
    assert json.loads(run("show", "stats.c", "--json").stdout) == {"functions": ["mean", "spread"]}
    for verb in (["check"], ["build"], ["export", "p.ffpack"]):
        text = refused(run(*verb, "stats.c"))
        assert "no function of stats.c is named\n  It defines: `mean`, `spread`." in text
    assert "<FILE>..." in refused(run("show"), 2)
    assert run("export", "p.ffpack", "stats.c", "mean").returncode == 0
    assert run("show", "p.ffpack").stdout.split() == ["mean"]


def test_what_is_no_pack_is_said_to_be_none(run: Run, tmp_path: Path) -> None:
    """Not to be damaged."""
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("readme", "no pack")
    for path in ("stats.c", ".", "other.zip"):
        assert f"`{path}` is no pack" in refused(run("contents", path))
    for path in ("missing.ffpack", "missing.zip"):
        assert f"there is no `{path}`" in refused(run("contents", path))


@pytest.mark.parametrize("pack", ["stats.c/p.ffpack", "stats.c/p.zip", "/proc/p.ffpack"])
def test_a_pack_that_cannot_be_written_is_not_the_caches_fault(pack: str, run: Run) -> None:
    """The advice is about the pack's own path."""
    text = refused(run("export", pack, "stats.c", "mean"))
    assert text.startswith("error: cannot create `") and "Give the pack a path" in text and "CACHE" not in text
    assert json.loads(run("export", pack, "stats.c", "mean", "--json").stdout)["error"]["code"] == "pack-target"


def test_arguments_without_a_meaning_are_refused(run: Run) -> None:
    """A dimension that is none, no point at all, no time."""
    assert "`--dim q`: the dimensions of the inputs are `n`" in refused(run("check", "stats.c", "mean", "--dim", "q=3"))
    assert "0 is not in 1" in refused(run("check", "stats.c", "mean", "--trials", "0"), 2)
    for verb in ("check", "show", "build"):
        assert "0 is not in 1" in refused(run(verb, "stats.c", "mean", "--timeout", "0"), 2)
    assert run("check", "stats.c", "mean", "--dim", "n=3").returncode == 0


def test_errors_name_the_options_of_the_command(run: Run) -> None:
    """Not those of Python."""
    text = refused(run("show", "fill.c", "fill", "-s", "x[n] -> y[n,k]"))
    assert "--size k=" in text and "sizes=" not in text
    text = refused(run("show", "stats.c", "mean", "--size", "q=3"))
    assert text.startswith("error: `--size` gives `q`") and "-s 'x[n] -> return'" in text
    answer = json.loads(run("show", "stats.c", "mean", "--size", "q=3", "--json").stdout)
    assert answer["error"]["message"].startswith("`--size` gives")


@pytest.mark.parametrize(
    ("name", "value", "takes"),
    [
        ("FFGRAD_MEMORY_LIMIT", "bogus", "it takes a size (16G, 500M), or none for no limit"),
        ("FFGRAD_CACHE_LIMIT", "lots", "it takes a size: 10G, 500M"),
    ],
)
def test_variables_with_values_that_mean_nothing_are_refused(name: str, value: str, takes: str, run: Run) -> None:
    """Before anything is compiled; an empty one is none."""
    assert f"{name} is `{value}`; {takes}" in refused(run("show", "stats.c", "mean", **{name: value}))
    assert run("show", "stats.c", "mean", **{name: ""}).returncode == 0
    if name == "FFGRAD_CACHE_LIMIT":
        assert f"{name} is `{value}`" in refused(run("cache", "list", **{name: value}))
        assert f"{name} is `{value}`" in refused(run("cache", "prune", **{name: value}))


def test_variables_that_name_nothing_are_refused(run: Run, tmp_path: Path) -> None:
    """A prover that is none is not left out in silence; a BLAS is not looked for in the tool folder."""
    text = refused(run("show", "stats.c", "mean", FFGRAD_PROVER="/nonexistent"))
    assert "the prover at /nonexistent cannot be used: there is no such program\n  correct FFGRAD_PROVER" in text
    assert run("check", "stats.c", "mean", FFGRAD_PROVER="none").returncode == 0
    (tmp_path / "dot.c").write_text(
        "double cblas_ddot(int, const double*, int, const double*, int);\n"
        "double dot(const double* x, int n) { return cblas_ddot(n, x, 1, x, 1); }\n"
    )
    text = refused(run("check", "dot.c", "dot", FFGRAD_BLAS="/nonexistent"))
    assert "the library with BLAS at /nonexistent cannot be used" in text and "TOOLS_DIR" not in text


def test_a_limit_below_what_a_compiler_needs_to_start_is_named(run: Run) -> None:
    """The loader of the compiler fails, before the source is read."""
    text = refused(run("show", "stats.c", "mean", FFGRAD_MEMORY_LIMIT="1M"))
    assert "its limit is 1 MiB" in text and "does not compile" not in text


@pytest.mark.parametrize("folder", ["nowhere", "stats.c"])
def test_packages_come_from_a_folder(folder: str, run: Run) -> None:
    """Said before anything is looked at, also where nothing would be installed."""
    for what in ([], ["--all"], ["blas"]):
        text = refused(run("toolchain", "install", *what, "--from", folder))
        assert f"{folder} is no folder\n  nothing was installed" in text


def test_a_machine_without_the_toolchain_is_told_so(run: Run, tmp_path: Path) -> None:
    """The worker is not broken: what it is linked to is not there yet."""
    bare = {"FFGRAD_TOOLS_DIR": str(tmp_path / "tools"), "PATH": str(tmp_path / "bin")}
    done = run("doctor", **bare)
    if done.returncode == 0 or "MISSING" not in done.stdout.split("libLLVM")[0][-20:]:
        pytest.skip("this system has LLVM where it is always looked for")
    assert done.stdout.rstrip().endswith("The toolchain is not installed yet: run `ffgrad toolchain install`.")
    assert "BROKEN" not in done.stdout and "cargo" not in done.stdout and "it runs once libLLVM is there" in done.stdout
