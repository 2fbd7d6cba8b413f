"""A folder with Fortran: modules, submodules, includes, `block data`, both forms, C beside it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from ffgrad.errors import CompileError
from ffgrad.numpy import enzyme

FILES = {
    "base/kinds.f90": "module kinds\n integer, parameter :: dp = kind(1d0)\nend module\n",
    "base/grid.F90": "#ifndef SCALE\n#define SCALE 2\n#endif\nmodule grid\n use kinds\n implicit none\n"
    " real(dp), parameter :: width = SCALE\n interface\n  module real(dp) function area(x)\n"
    "   real(dp), intent(in) :: x\n  end function\n end interface\nend module\n",
    "base/grid_impl.f90": "submodule (grid) impl\n implicit none\ncontains\n module procedure area\n"
    "  area = width * x * x\n end procedure\nend submodule\n",
    "flow.f90": "subroutine flow(n, x, y)\n use grid, only: area\n use kinds\n implicit none\n integer, intent(in) :: n\n"
    " real(dp), intent(in) :: x(n)\n real(dp), intent(out) :: y(n)\n real(dp), external :: old\n integer :: i\n"
    " interface\n  real(dp) function in_c(x) bind(c, name='in_c')\n   import dp\n   real(dp), value :: x\n"
    "  end function\n end interface\n do i = 1, n\n  y(i) = area(x(i)) + old(x(i)) + in_c(x(i))\n end do\nend subroutine\n",
    "old/old.f": "      DOUBLE PRECISION FUNCTION OLD(X)\n      DOUBLE PRECISION X\n      INCLUDE 'consts.inc'\n"
    "C     CALL NOTHING\n      OLD = SHIFT*X\n      END\n",
    "inc/consts.inc": "      DOUBLE PRECISION SHIFT\n      COMMON /CONSTS/ SHIFT\n",
    "old/init.f": "      BLOCK DATA INIT\n      INCLUDE 'consts.inc'\n      DATA SHIFT /5D0/\n      END\n",
    "c/in_c.c": "double in_c(double x) { return x * x * x; }\n",
    "test/drive.f90": "program drive\n real(8) :: x(1) = 1, y(1)\n call flow(1, x, y)\n print *, y\nend program\n",
}


def lay_out(folder: Path, files: dict[str, str] | None = None) -> Path:
    """Write the files below a folder."""
    for name, text in (files or FILES).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_modules_submodules_includes_and_initial_values_are_found(tmp_path: Path) -> None:
    """Each file once, the main program not at all."""
    f = enzyme(lay_out(tmp_path / "p"), "flow")
    x = np.array([1.0, 2.0])
    assert np.allclose(f(x), 2 * x**2 + 5 * x + x**3)
    assert np.allclose(np.diag(f.jacobian(x)), 4 * x + 5 + 3 * x**2)
    names = {Path(source["path"]).name for source in f.manifest["sources"]}
    assert "drive.f90" not in names
    assert {"kinds.f90", "grid.F90", "grid_impl.f90", "init.f", "in_c.c", "consts.inc"} <= names


def test_a_change_of_a_module_s_code_compiles_its_own_file_again(tmp_path: Path, cache: Path) -> None:
    """One of what its users see compiles them too."""
    folder = lay_out(tmp_path / "p")
    x = np.array([2.0])
    f = enzyme(folder, "flow")
    count = len(list(cache.glob("v*/units/*/unit.json")))
    impl = folder / "base/grid_impl.f90"
    impl.write_text(impl.read_text().replace("x * x", "x * x * x"))
    assert f.is_stale
    assert np.allclose(enzyme(folder, "flow")(x), 2 * x**3 + 5 * x + x**3)
    assert len(list(cache.glob("v*/units/*/unit.json"))) == count + 1
    assert np.allclose(enzyme(folder, "flow", defines={"SCALE": "3"})(x), 3 * x**3 + 5 * x + x**3)


def test_flags_for_one_language_are_not_given_to_the_other(tmp_path: Path) -> None:
    """`-fdefault-real-8` makes plain `real` double; clang would not know it."""
    files = {
        "f.f90": "subroutine f(x, y)\n real, intent(in) :: x\n real, intent(out) :: y\n real, external :: g\n"
        " interface\n  function c(x) bind(c)\n   real(8) :: c\n   real(8), value :: x\n  end function\n end interface\n"
        " y = g(x) * c(real(x, 8))\nend subroutine\n",
        "g.f": "      FUNCTION G(X)\n      G = X*X\n      END\n",
        "c.c": "double c(double x) { return x; }\n",
    }
    f = enzyme(lay_out(tmp_path / "p", files), "f", flags=["-fdefault-real-8", "-std=c11"])
    assert f(1.1).dtype == np.float64
    assert np.allclose(f.grad(1.1), 3 * 1.1**2)


@pytest.mark.parametrize(("name", "flag"), [("f.f", "-ffree-form"), ("f.f90", "-ffixed-form")])
def test_the_other_form_is_suggested(tmp_path: Path, name: str, flag: str) -> None:
    """And works."""
    free = "function f(x) result(y)\n  real(8), intent(in) :: x\n  real(8) :: y\n  y = x * &\n    x\nend function\n"
    fixed = "C     A COMMENT\n      REAL*8 FUNCTION F(X)\n      REAL*8 X\n      F = X *\n     1    X\n      END\n"
    source = tmp_path / name
    source.write_text(free if name == "f.f" else fixed)
    with pytest.raises(CompileError) as caught:
        enzyme(source, "f")
    assert flag in str(caught.value)
    assert enzyme(source, "f", flags=[flag])(3.0) == 9.0
