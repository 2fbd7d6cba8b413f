"""Derivatives that are not proven run in a process of their own: the caller, its statics, output and files are untouched."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import ffgrad
import numpy as np
import pytest
from ffgrad.numpy import enzyme
from torture.faults import signals

ONLY_SORTED = """
#include <math.h>
#include <stdlib.h>
void hangs(const double *x, int n, double *y) {
  for (int i = 0; i + 1 < n; i++) while (x[i] > x[i + 1]);
  for (int i = 0; i < n; i++) y[i] = x[i] * x[i];
}
void aborts(const double *x, int n, double *y) {
  for (int i = 0; i + 1 < n; i++) if (x[i] > x[i + 1]) abort();
  for (int i = 0; i < n; i++) y[i] = x[i] * sin(x[i]);
}
"""

TABLE = """
#include <stdlib.h>
static const double table[5] = {1, 2, 4, 8, 16};
void f(const double *e, int n, double *y) {
  for (int i = 0; i < n; i++) {
    if (e[i] < 0 || e[i] >= 1) abort();
    int k = (int)(e[i] * 4);
    double w = e[i] * 4 - k;
    y[i] = table[k] * (1 - w) + table[k + 1] * w;
  }
}
"""

DIES = """
#include <stdio.h>
#include <stdlib.h>
void f(const double *x, int n, double *y) {
  fprintf(stderr, "no such material\\n");
  if (n > 2) abort();
  y[0] = x[0] * x[1];
}
"""

WRITES = """
#include <stdio.h>
void f(const double *x, int n, double *y) {
  FILE *log = fopen("calls.log", "a");
  fprintf(log, "called\\n");
  fclose(log);
  FILE *scratch = fopen("scratch.txt", "w");
  fprintf(scratch, "%d", n);
  fclose(scratch);
  double first = 0;
  scratch = fopen("scratch.txt", "r");
  first = fgetc(scratch);
  fclose(scratch);
  remove("scratch.txt");
  printf("computing\\n");
  fflush(stdout);
  for (int i = 0; i < n; i++) y[i] = x[i] * x[i] + (first != 48 + n);
}
"""

UNWRITTEN = """
#include <stdlib.h>
double square(double x) { return x * x; }
double square_fwd(double x, double dx, double *dy) {
  *dy = 2 * x * dx;
  return x * x;
}
void square_rev(double x, double *dx, double dy) {
  double *sums = malloc(100000 * sizeof(double));
  sums[99999] += 2 * x * dy;
  *dx += sums[99999];
  free(sums);
}
void f(const double *x, int n, double *y) {
  for (int i = 0; i < n; i++) y[i] = square(x[i]);
}
"""

COUNTS = """
static int calls;
int count(void) { return calls; }
void f(const double *x, int n, double *y) {
  calls++;
  for (int i = 0; i < n; i++) y[i] = x[i] * x[i] * x[i];
}
"""


def source(folder: Path, text: str) -> str:
    path = folder / "f.c"
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize("name", ["hangs", "aborts"])
def test_a_function_of_sorted_values_may_hang_or_abort_at_others(tmp_path, name):
    x = np.array([0.1, 0.5, 0.7, 0.9])
    y, pullback = enzyme(source(tmp_path, ONLY_SORTED), name, "x[n] -> y[n]").vjp(x)
    (gradient,) = pullback(np.ones_like(y))
    expected = 2 * x if name == "hangs" else np.sin(x) + x * np.cos(x)
    np.testing.assert_allclose(gradient, expected, rtol=1e-12)


def test_finite_differences_stay_in_the_range_of_a_table(tmp_path, recwarn):
    e = np.array([0.0, 0.3, 0.6, 0.99])
    y, pullback = enzyme(source(tmp_path, TABLE), "f", "e[n] -> y[n]").vjp(e)
    np.testing.assert_allclose(pullback(np.ones_like(y))[0], [4.0, 8.0, 16.0, 32.0], rtol=1e-12)
    assert not [w for w in recwarn if issubclass(w.category, ffgrad.GradientWarning)]


def test_a_function_that_dies_at_the_callers_values_is_an_error(tmp_path):
    f = enzyme(source(tmp_path, DIES), "f", "x[n] -> y[1]")
    with pytest.raises(ffgrad.ForeignError, match=r"`f` itself crashed \(abort\) at these arguments") as caught:
        # The first call verifies before it runs anything here.
        f.vjp(np.ones(3))
    assert "no such material" in str(caught.value)


def test_a_derivative_that_reads_memory_which_nobody_wrote_is_refused(tmp_path):
    """Right in a new process, whose memory is zeros."""
    rule = {"square": ("square_fwd", "square_rev")}
    f = enzyme(source(tmp_path, UNWRITTEN), "f", "x[n] -> y[n]", derivatives=rule)
    with pytest.raises(ffgrad.DifferentiationError, match="square"):
        f.vjp(np.ones(3))


ENDLESS = "double f(double x) { while (x > 0) x = x * 1.0; return x; }\n"

WAITS = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from ffgrad.numpy import enzyme
f = enzyme("f.c", "f")
print("begun", flush=True)
try:
    f.grad(1.0)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def descendants(pid: int) -> list[int]:
    """Return all processes below one."""
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return []
    children = [int(word) for word in text.split()]
    return children + [below for child in children for below in descendants(child)]


def is_verifying(pids: list[int]) -> bool:
    """Whether the prover and its child are there."""
    lines = [Path(f"/proc/{pid}/cmdline") for pid in pids]
    return len([1 for line in lines if line.exists() and line.read_bytes().endswith(b"\0prove\0")]) == 2


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("victim", ["terminal", "caller", "prover"])
def test_a_function_that_never_ends_ends_with_who_asked(victim: str, cache: Path, tmp_path: Path) -> None:
    """A Ctrl-C in a terminal, which the whole group hears; the death of the caller; that of the prover, after which a wait can be interrupted."""
    source(tmp_path, ENDLESS)
    program = [sys.executable, "-c", WAITS]
    # A group of its own, as a shell gives each command.
    child = subprocess.Popen(program, cwd=tmp_path, stdout=subprocess.PIPE, text=True, process_group=0)
    assert child.stdout is not None
    assert child.stdout.readline() == "begun\n"
    assert signals.until(lambda: is_verifying(descendants(child.pid)), 60)
    below = descendants(child.pid)
    if victim == "prover":
        os.kill(below[0], signal.SIGKILL)
        assert signals.until(lambda: not any(signals.alive(pid) for pid in below), 10)
        # Asked again, it runs again.
        assert signals.until(lambda: is_verifying(descendants(child.pid)), 60)
        below = descendants(child.pid)
    os.killpg(child.pid, signal.SIGKILL if victim == "caller" else signal.SIGINT)
    assert child.communicate(timeout=30)[0] == ("" if victim == "caller" else "interrupted\n")
    assert signals.until(lambda: not any(signals.alive(pid) for pid in below), 10)


def test_a_function_that_does_not_end_is_waited_for_aloud(cache: Path, tmp_path: Path) -> None:
    """A warning of the logger `ffgrad`, which Python prints where no handler is set."""
    source(tmp_path, ENDLESS)
    child = subprocess.Popen([sys.executable, "-c", WAITS], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    assert child.stderr is not None
    said = child.stderr.readline()
    # Perhaps while Python is still in its logging: the interrupt is not lost there.
    child.send_signal(signal.SIGINT)
    try:
        assert child.communicate(timeout=60)[1] == "" and child.returncode == 0
    finally:
        child.kill()
    assert said.startswith("`f` has run for 5 s at the arguments given, and has not ended")


def run_in_folder(folder: Path, program: str) -> subprocess.CompletedProcess[str]:
    text = textwrap.dedent(program)
    return subprocess.run(
        [sys.executable, "-c", text],
        cwd=folder,
        env=os.environ,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_checks_print_nothing_and_write_no_file(tmp_path):
    source(tmp_path, WRITES)
    done = run_in_folder(
        tmp_path,
        """
        import numpy as np
        from ffgrad.numpy import enzyme
        f = enzyme("f.c", "f", "x[n] -> y[n]", inactive=["fgetc", "fopen", "fclose", "remove"])
        print(f.jvp(np.ones(3), np.ones(3))[1].tolist())
        """,
    )
    assert done.returncode == 0, done.stderr
    # Once for the value, once for the tangent; the dozens of evaluations of the check are neither seen nor heard.
    assert done.stdout.splitlines() == ["computing", "computing", "[2.0, 2.0, 2.0]"], done.stdout
    assert (tmp_path / "calls.log").read_text() == "called\ncalled\n"
    assert not (tmp_path / "scratch.txt").exists()


def test_checks_run_none_of_the_callers_code(tmp_path):
    f = enzyme(source(tmp_path, COUNTS), "f", "x[n] -> y[n]")
    x = np.array([1.0, 2.0])
    _, tangent = f.jvp(x, np.ones(2))
    np.testing.assert_allclose(tangent, 3 * x**2)


def test_without_a_prover_checks_run_here(tmp_path):
    source(tmp_path, COUNTS.replace("calls", "here"))
    program = """
        import numpy as np
        from ffgrad.numpy import enzyme
        y, pullback = enzyme("f.c", "f", "x[n] -> y[n]").vjp(np.ones(3))
        print(pullback(np.ones(3))[0].tolist())
        """
    os.environ["FFGRAD_PROVER"] = "none"
    try:
        done = run_in_folder(tmp_path, program)
    finally:
        del os.environ["FFGRAD_PROVER"]
    assert done.stdout == "[3.0, 3.0, 3.0]\n", done.stderr


def is_running(pid: str) -> bool:
    """Whether a process is there, and not a zombie that nobody has reaped yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_the_prover_ends_with_its_caller(tmp_path):
    # Code of its own: what another test has verified needs no prover.
    source(tmp_path, COUNTS.replace("calls", "evaluations"))
    done = run_in_folder(
        tmp_path,
        """
        import os, time
        import numpy as np
        from ffgrad.numpy import enzyme
        y, pullback = enzyme("f.c", "f", "x[n] -> y[n]").vjp(np.ones(3))
        pullback(np.ones(3))
        children = open(f"/proc/self/task/{os.getpid()}/children").read().split()
        print(" ".join(c for c in children if b"prove" in open(f"/proc/{c}/cmdline", "rb").read()), flush=True)
        os.kill(os.getpid(), 9)
        """,
    )
    pids = done.stdout.split()
    assert pids, "a prover was kept"
    for pid in pids:
        deadline = 5.0
        while is_running(pid) and deadline > 0:
            subprocess.run(["sleep", "0.05"], check=True)
            deadline -= 0.05
        assert not is_running(pid)
