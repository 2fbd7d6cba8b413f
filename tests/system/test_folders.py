"""A folder as source: which files are taken, what is compiled again after a change, what is refused."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
from pathlib import Path

import ffgrad
import numpy as np
import pytest
from ffgrad.errors import CompileError
from ffgrad.numpy import enzyme

FILES = {
    "src/top.c": '#include "lib.h"\n#include <deep/inner.h>\n'
    "static double local(double x) { return INNER * x; }\n"
    "double top(double x) { return twice(x) + local(x) + table[1] + old(x); }\n"
    "double nowhere(double x);\ndouble unused(double x) { return nowhere(x); }\n",
    "src/twice.c": '#include "lib.h"\ndouble twice(double x) { return FACTOR * helper(x); }\n',
    "src/more/helper.c": "static double square(double x) { return x * x; }\ndouble helper(double x) { return square(x); }\n",
    "src/more/table.c": "const double table[2] = {5.0, 7.0};\n",
    "src/old.c": "double old(x)\ndouble x;\n{ return x; }\n",
    "include/lib.h": "#ifndef FACTOR\n#define FACTOR 2.0\n#endif\n"
    "double twice(double);\ndouble helper(double);\ndouble old();\nextern const double table[2];\n",
    "include/deep/inner.h": "#define INNER 3.0\n",
    "tests/main1.c": "double twice(double x);\nint main(void) { return (int)twice(1.0); }\n",
    "tests/main2.c": "int main(void) { return 0; }\n",
    "broken.c": "double broken(double x) { return ; ; ( }\n",
}


def lay_out(folder: Path, files: dict[str, str] | None = None) -> Path:
    """Write the files below a folder."""
    for name, text in (files or FILES).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def units(cache: Path) -> set[str]:
    """Return the compiled files in a cache, by name of the folder."""
    return {path.parent.name for path in cache.glob("v*/units/*/unit.json")}


def test_what_a_function_reaches_is_found(tmp_path: Path) -> None:
    """Symbols, variables, headers in other folders; neither mains nor a file that does not compile."""
    f = enzyme(lay_out(tmp_path / "p"), "top")
    value, gradient = f.value_and_grad(2.0)
    assert (value, gradient) == (2 * 4.0 + 6 + 7 + 2, 4 * 2.0 + 3 + 1)
    assert {Path(source["path"]).name for source in f.manifest["sources"]} == {
        "top.c", "twice.c", "helper.c", "table.c", "old.c", "lib.h", "inner.h",
    }  # fmt: skip


def test_a_change_costs_the_files_that_it_is_in(tmp_path: Path, cache: Path) -> None:
    """A file, an option that the compiler sees, one that it does not, and a file that has nothing to do with it."""
    folder = lay_out(tmp_path / "p")
    first = enzyme(folder, "top")
    before = units(cache)
    assert len(before) == 5
    assert enzyme(folder, "top", "x -> return", arena=False)(2.0) == first(2.0)
    assert units(cache) == before
    (folder / "src/more/table.c").write_text("const double table[2] = {5.0, 8.0};\n")
    assert first.is_stale
    assert enzyme(folder, "top")(2.0) == first(2.0) + 1
    assert len(units(cache) - before) == 1
    before = units(cache)
    (folder / "src/other.c").write_text("double other(double x) { return x; }\n")
    assert not enzyme(folder, "top").is_stale
    assert units(cache) == before
    assert enzyme(folder, "top", defines={"FACTOR": "4.0"})(2.0) == first(2.0) + 1 + 8
    (folder / "include/lib.h").write_text(FILES["include/lib.h"].replace("2.0", "6.0"))
    assert enzyme(folder, "top")(2.0) == first(2.0) + 1 + 16


def test_a_header_that_appears_nearer_is_compiled_with(tmp_path: Path) -> None:
    """The same search as the compiler's, one level up."""
    folder = lay_out(tmp_path / "p")
    f = enzyme(folder, "top")
    (folder / "src/lib.h").write_text(FILES["include/lib.h"].replace("2.0", "10.0"))
    assert f.is_stale
    assert enzyme(folder, "top")(2.0) == f(2.0) + 32


def test_of_several_headers_that_are_equally_near_none_is_taken(tmp_path: Path) -> None:
    """Nor is the one that was there first, whatever the cache has; equal files are one, and `include_dirs` decides."""
    text = '#include "par.h"\ndouble top(double x) { return K * x; }\n'
    folder = lay_out(tmp_path, {"src/t.c": text, "b/par.h": "#define K 2.0\n"})
    f = enzyme(folder, "top")
    assert f(1.0) == 2.0
    lay_out(folder, {"c/par.h": "#define K 2.0\n"})
    assert enzyme(folder, "top")(1.0) == 2.0
    for other in ("a", "d"):
        lay_out(folder, {f"{other}/par.h": "#define K 7.0\n"})
        with pytest.raises(CompileError, match=r"files of the folder, which differ") as refused:
            enzyme(folder, "top")
        assert refused.value.code == "included-twice"
    assert enzyme(folder, "top", include_dirs=[folder / "d"])(1.0) == 7.0


def test_angled_includes_are_found_beside_the_file(tmp_path: Path) -> None:
    """Such projects are built with -I."""
    folder = lay_out(
        tmp_path,
        {"src/defs.h": "#define K 3.0\n", "src/t.c": "#include <defs.h>\ndouble top(double x) { return K * x; }\n"},
    )
    assert enzyme(folder, "top")(1.0) == 3.0


def test_functions_and_variables_with_abi_tags_are_found(tmp_path: Path) -> None:
    """The library's strings in a signature give a symbol a tag."""
    folder = lay_out(
        tmp_path,
        {
            "names.h": "#include <string>\n#include <map>\nstd::string label(int);\nextern std::string first;\n"
            "std::map<std::string, double> &registry();\n",
            "names.cpp": '#include "names.h"\nstd::string first = "first";\nstd::string label(int i) { return i ? "other" : first; }\n'
            "std::map<std::string, double> &registry() { static std::map<std::string, double> all; return all; }\n",
            "top.cpp": '#include "names.h"\ndouble top(double x, int i) { return label(i) == first ? x * x : 3 * x; }\n',
        },
    )
    f = enzyme(folder, "top", "x, i -> return")
    assert (f(2.0, 0), f(2.0, 1)) == (4.0, 6.0)


def test_two_definitions_of_what_is_needed_are_refused(tmp_path: Path) -> None:
    """And the file that is given first decides."""
    folder = lay_out(tmp_path / "p")
    (folder / "src/more/helper.c").rename(folder / "src/more/first.c")
    f = enzyme(folder, "top")
    (folder / "src/more/variant.c").write_text("double helper(double x) { return x * x * x; }\n")
    assert f.is_stale
    with pytest.raises(CompileError) as caught:
        enzyme(folder, "top")
    assert caught.value.code == "defined-twice"
    assert "first.c" in str(caught.value) and "variant.c" in str(caught.value)
    assert enzyme([folder / "src/more/variant.c", folder], "top")(2.0) == f(2.0) + 8
    # Not of what is not needed.
    assert enzyme(folder, "old")(2.0) == 2.0


def test_of_definitions_that_are_equally_near_the_less_deep_counts(tmp_path: Path) -> None:
    """As in LAPACK, whose SRC has variants of some routines in folders below; two in one depth stay a tie."""
    needs = "double factor(double);\ndouble twice(double x) { return 2 * factor(x); }\n"
    folder = lay_out(
        tmp_path / "lib",
        {
            "factor.c": "double factor(double x) { return x * x; }\n",
            "twice.c": needs,
            "VARIANTS/left/factor.c": "double factor(double x) { return 3 * x; }\n",
            "VARIANTS/right/factor.c": "double factor(double x) { return 5 * x; }\n",
            "VARIANTS/twice.c": needs.replace("2 *", "7 *"),
        },
    )
    text = "double factor(double);\ndouble twice(double);\ndouble top(double x) { return factor(x) + twice(x); }\n"
    lay_out(tmp_path, {"top.c": text})
    assert enzyme([tmp_path / "top.c", folder], "top")(2.0) == 4.0 + 8.0
    assert enzyme(folder, "factor")(2.0) == 4.0
    assert enzyme(folder, "twice")(2.0) == 8.0
    # Nor does a copy beside a file that has the function's name.
    (folder / "factor_old.c").write_text("double factor(double x) { return 9 * x; }\n")
    assert enzyme([tmp_path / "top.c", folder], "top")(2.0) == 4.0 + 8.0
    assert enzyme(folder, "factor")(2.0) == 4.0
    (folder / "factor.c").unlink()
    (folder / "factor_old.c").unlink()
    for sources, name in ([tmp_path / "top.c", folder], "top"), (folder, "factor"):
        with pytest.raises(CompileError) as caught:
            enzyme(sources, name)
        assert caught.value.code == "defined-twice"


def test_files_that_are_needed_may_both_define_what_is_not(tmp_path: Path) -> None:
    """As where each file of a folder has its own main."""
    files = {
        "a.c": "double b(double x);\nint main(void) { return 1; }\ndouble f(double x) { return b(x); }\n",
        "b.c": "int main(void) { return 2; }\ndouble b(double x) { return x * x; }\n",
    }
    assert enzyme(lay_out(tmp_path / "p", files), "f").value_and_grad(3.0) == (9.0, 6.0)


def test_a_function_that_is_in_no_file_is_refused_with_the_closest(tmp_path: Path) -> None:
    """From the text of all of them."""
    with pytest.raises(CompileError, match="there is no function `twise` in the 8 sources of") as caught:
        enzyme(lay_out(tmp_path / "p"), "twise")
    assert "`twice`" in str(caught.value)


def test_a_file_that_is_needed_and_does_not_compile_says_so(tmp_path: Path) -> None:
    """With its own message and line."""
    with pytest.raises(CompileError) as caught:
        enzyme(lay_out(tmp_path / "p"), "broken")
    assert caught.value.code == "syntax" and caught.value.line == 1


def test_every_symbol_without_a_body_is_named_at_once(tmp_path: Path) -> None:
    """Of the function's own calls and of those of the files that it reaches."""
    files = {
        "a.c": "double g(double);\ndouble gone(double);\ndouble f(double x) { return g(x) + gone(x); }\n",
        "g.c": "double lost(double);\ndouble g(double x) { return lost(x); }\n",
    }
    with pytest.raises(CompileError) as caught:
        enzyme(lay_out(tmp_path / "p", files), "f")(1.0)
    assert caught.value.code == "undefined-symbol"
    assert "`gone`" in str(caught.value) and "`lost`" in str(caught.value)


def test_static_functions_templates_and_classes_are_opened_too(tmp_path: Path) -> None:
    """What nothing in a file uses is emitted where it is asked for."""
    files = {
        "s.c": "static double hidden(double x) { return x * x; }\n",
        "t.cpp": '#include "t.h"\ntemplate <class T> T cube(T x) { return x * half(x) * x; }\n',
        "t.h": "namespace n { struct S { double v; double get() const; }; }\ndouble half(double x);\n",
        "u.cpp": '#include "t.h"\nnamespace n { double S::get() const { return 0.5 * v; } }\n'
        "double half(double x) { return n::S{x}.get(); }\n",
    }
    folder = lay_out(tmp_path / "p", files)
    assert enzyme(folder, "hidden").value_and_grad(3.0) == (9.0, 6.0)
    assert enzyme(folder, "cube<double>").value_and_grad(2.0) == (4.0, 6.0)


def test_a_folder_survives_pickling_packing_and_the_command(tmp_path: Path) -> None:
    """What names an operation is the folder."""
    folder = lay_out(tmp_path / "p")
    f = enzyme(folder, "top")
    f.grad(2.0)
    assert pickle.loads(pickle.dumps(f))(2.0) == f(2.0)
    ffgrad.export(tmp_path / "top.ffpack", f)
    assert enzyme(tmp_path / "top.ffpack", "top")(2.0) == f(2.0)
    program = Path(ffgrad.__file__).parent / "bin" / "ffgrad"
    for verb in (["show"], ["check"]):
        done = subprocess.run(
            [program, *verb, folder, "top", "--json"], capture_output=True, text=True, check=True, env=os.environ
        )
        assert json.loads(done.stdout)


def test_a_large_folder_is_searched_in_little_time(tmp_path: Path) -> None:
    """Only what may define a symbol is compiled."""
    files = {f"d{i % 40}/f{i}.c": f"double f{i}(double x) {{ return x + {i}; }}\n" * 1 for i in range(4000)}
    files["top.c"] = "double f7(double), f3999(double);\ndouble top(double x) { return f7(x) * f3999(x); }\n"
    f = enzyme(lay_out(tmp_path / "p", files), "top")
    assert f(1.0) == 8.0 * 4000.0
    assert len(f.manifest["sources"]) == 3


def test_marks_of_derivatives_and_options_reach_other_files(tmp_path: Path) -> None:
    """The derivative of a table may be in a file of its own."""
    files = {
        "f.c": "double lookup(double);\ndouble f(double x) { return lookup(x); }\n",
        "lookup.c": "double lookup(double x) { return (double)(int)x; }\n",
        "rule.c": "double lookup_fwd(double x, double dx, double *dy) { *dy = 3 * dx; return (double)(int)x; }\n"
        "void lookup_rev(double x, double *dx, double dy) { *dx += 3 * dy; }\n",
    }
    rule = {"lookup": ("lookup_fwd", "lookup_rev")}
    f = enzyme(lay_out(tmp_path / "p", files), "f", derivatives=rule, verify="off")
    assert np.allclose(f.grad(2.5), 3.0)


def test_a_function_whose_name_a_macro_makes_is_in_the_file_named_after_it(tmp_path: Path) -> None:
    """No text of the folder defines it."""
    files = {
        "solve.h": "#define PREFIX(name) name\nint PREFIX(half)(double *x);\n",
        "half.c": '#include "solve.h"\nint PREFIX(half)(double *x) { *x = *x / 2; return 0; }\n',
        "other.c": '#include "solve.h"\nint PREFIX(twice)(double *x) { *x = *x * 2; return 0; }\n',
        "top.c": '#include "solve.h"\ndouble top(double x) { half(&x); return x * x; }\n',
    }
    assert enzyme(lay_out(tmp_path / "p", files), "top").value_and_grad(3.0) == (2.25, 1.5)
