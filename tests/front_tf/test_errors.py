"""Refusals: TensorFlow's own exceptions with ffgrad's text, eagerly, while a graph is built, and when it runs."""

from __future__ import annotations

from pathlib import Path

import ffgrad
import numpy as np
import pytest
import tensorflow as tf
from ffgrad.tf import enzyme
from programs import CUBE, MATVEC, MATVEC_SIGNATURE, THROWING
from support.fixtures import Compile, RunPython

NEGATIVE = Path(__file__).parent.parent / "cases" / "negative"
Invalid = tf.errors.InvalidArgumentError


def refused_everywhere(f: ffgrad.tf.Enzyme, inputs: list[tf.Tensor], text: str) -> None:
    """The same text eagerly, while a graph is built, and when one runs that was built without shapes."""
    with pytest.raises(Invalid) as eager:
        f(*inputs)
    with pytest.raises(Invalid) as building:
        tf.function(f.apply).get_concrete_function(*inputs)
    assert text in eager.value.message and text in building.value.message


def test_a_wrong_element_type_names_the_parameter(compile_source: Compile) -> None:
    """And nothing is converted."""
    cube = compile_source(CUBE, "cube")
    refused_everywhere(
        cube, [tf.constant([1.0])], "`x` of `cube` is `double*`\n  expected an array of float64\n  found    float32"
    )
    refused_everywhere(cube, [tf.constant([1], tf.int32)], "found    int32")
    with pytest.raises(Invalid, match=r"found    bfloat16\n  Convert the input before the call, tf.cast"):
        cube(tf.constant([1.0], tf.bfloat16))
    with pytest.raises(Invalid, match=r"`x` of `cube` is a masked array.*\n.*filled"):
        cube(np.ma.masked_array([1.0, 2.0], mask=[False, True]))
    for odd, told in [
        (tf.ragged.constant([[1.0, 2.0], [3.0]], tf.float64), r"is a ragged tensor.*\n.*to_tensor"),
        (tf.sparse.from_dense(tf.constant([0.0, 1.0], tf.float64)), r"is a sparse tensor.*\n.*to_dense"),
        (np.array([1.0, None]), "cannot be made a tensor"),
        (None, "cannot be made a tensor"),
        ([[1.0], [2.0, 3.0]], "cannot be made a tensor"),
    ]:
        with pytest.raises(Invalid, match=f"`x` of `cube` {told}"):
            cube(odd)
    with pytest.raises(Invalid, match="found    float32"):
        cube(np.ones(3, np.float32))


def test_contradicting_shapes_are_named(compile_source: Compile) -> None:
    """Both of them."""
    matvec = compile_source(MATVEC, "matvec", MATVEC_SIGNATURE)
    a, x = tf.ones([2, 3], tf.float64), tf.ones([4], tf.float64)
    text = "`n` is 3 in `A[m,n]` (dimension 1) but 4 in `x[n]` (dimension 0)"
    refused_everywhere(matvec, [a, x], text)
    refused_everywhere(matvec, [x, x], "`A` has the shape [4]: expected 2 dimensions, `A[m,n]`")
    unknown = [tf.TensorSpec(None, tf.float64)] * 2
    with pytest.raises(Invalid) as running:
        tf.function(matvec.apply, input_signature=unknown)(a, x)
    assert text in running.value.message


def test_inputs_are_given_by_name(compile_source: Compile) -> None:
    """Eagerly and in a graph; what is missing or unknown is listed."""
    matvec = compile_source(MATVEC, "matvec", MATVEC_SIGNATURE)
    a, x = tf.ones([2, 3], tf.float64), tf.ones([3], tf.float64)
    by_name = tf.function(lambda a, x: matvec(x=x, A=a))
    for given, expected in zip(by_name(a, x), matvec(a, x), strict=True):
        np.testing.assert_array_equal(given, expected)
    with pytest.raises(ffgrad.SignatureError, match="there is no input `B`; `A` is missing"):
        matvec(x=x, B=a)


def test_a_wrong_number_of_inputs_lists_them(compile_source: Compile) -> None:
    """By name."""
    matvec = compile_source(MATVEC, "matvec", MATVEC_SIGNATURE)
    refused_everywhere(matvec, [tf.ones([2, 3], tf.float64)], "`matvec` takes 2 inputs, 1 was given")


def test_an_exception_of_the_foreign_code_arrives(compile_source: Compile) -> None:
    """As an unknown error, like those of tf.py_function; the next call is unharmed."""
    root = compile_source(THROWING, "root", name="root.cpp")
    for f in (root.apply, tf.function(root.apply)):
        with pytest.raises(tf.errors.UnknownError, match='`root` threw "negative input"'):
            f(tf.constant([1.0, -1.0], tf.float64))
        np.testing.assert_allclose(f(tf.constant([2.0], tf.float64)), [4.0])


def test_a_function_without_a_derivative_has_values_but_no_gradient() -> None:
    """It is refused where the gradient is recorded, with what to do."""
    f = enzyme(NEGATIVE / "bit_tricks.c", *_named("bit_tricks.c"))
    x = tf.constant([1.0, 2.0], tf.float64)
    f(x)
    with pytest.raises(tf.errors.UnimplementedError) as caught, tf.GradientTape() as tape:
        tape.watch(x)
        tape.gradient(f(x), x)
    assert f"`{_named('bit_tricks.c')[0]}`" in caught.value.message


def _named(file: str) -> tuple[str, str]:
    """Return function and signature of a negative case."""
    text = (NEGATIVE / file).read_text()
    name = text.split("void ")[1].split("(")[0]
    return name, "x[n] -> y[n]"


def test_opening_raises_ffgrads_own_exceptions(tmp_path: Path) -> None:
    """Nothing of TensorFlow's runs then."""
    with pytest.raises(ffgrad.CompileError, match="there is no file"):
        enzyme(tmp_path / "nothing.c", "f")
    with pytest.raises(ffgrad.CompileError, match="expected ';'"):
        enzyme(NEGATIVE / "syntax_error.c", "scale")
    (tmp_path / "cube.c").write_text(CUBE)
    with pytest.raises(ffgrad.SignatureError):
        enzyme(tmp_path / "cube.c", "cube", "z[n] -> y[n]")


def test_a_saved_graph_without_its_source_says_so(tmp_path: Path, run_python: RunPython) -> None:
    """Which file is missing."""
    source = tmp_path / "cube.c"
    source.write_text(CUBE)
    run_python(
        "import tensorflow as tf\n"
        "from ffgrad.tf import enzyme\n"
        "module = tf.Module()\n"
        "cube = enzyme('cube.c', 'cube')\n"
        "module.f = tf.function(cube.apply, input_signature=[tf.TensorSpec([None], tf.float64)])\n"
        "tf.saved_model.save(module, 'saved')\n"
    )
    source.unlink()
    done = run_python(
        "import tensorflow as tf\n"
        "import ffgrad.tf\n"
        "module = tf.saved_model.load('saved')\n"
        "try:\n"
        "    module.f(tf.constant([1.0], tf.float64))\n"
        "except tf.errors.InvalidArgumentError as error:\n"
        "    print(error.message)\n"
    )
    assert f"there is no file `{source}`" in done.stdout


def test_a_doubtful_gradient_warns(compile_source: Compile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At a kink finite differences disagree: the warning has the numbers and comes once a build."""
    monkeypatch.setenv("FFGRAD_CACHE_DIR", str(tmp_path / "cache"))
    source = (
        "void kink(const double* x, int n, double* y) { for (int i = 0; i < n; i++) y[i] = x[i] > 0 ? x[i] : -x[i]; }\n"
    )
    kink = compile_source(source, "kink")
    x = tf.zeros([3], tf.float64)
    with pytest.warns(ffgrad.GradientWarning, match="finite differences"), tf.GradientTape() as tape:
        tape.watch(x)
        tape.gradient(kink(x), x)


def test_torch_and_tensorflow_do_not_import_each_other(run_python: RunPython) -> None:
    """One home a framework."""
    done = run_python("import sys, ffgrad.tf\nprint('torch' in sys.modules, 'ffgrad.torch' in sys.modules)\n")
    assert done.stdout.strip() == "False False"
    done = run_python("import sys, ffgrad\nprint('tensorflow' in sys.modules)\n")
    assert done.stdout.strip() == "False"


def test_a_graph_older_than_its_source_is_refused(tmp_path: Path, run_python: RunPython) -> None:
    """Where the function has other outputs by now."""
    source = tmp_path / "cube.c"
    source.write_text(CUBE)
    module = tf.Module()
    module.f = tf.function(enzyme(source, "cube").apply, input_signature=[tf.TensorSpec([None], tf.float64)])
    tf.saved_model.save(module, str(tmp_path / "saved"))
    load = (
        "import tensorflow as tf\n"
        "import ffgrad.tf\n"
        "module = tf.saved_model.load('saved')\n"
        "try:\n"
        "    module.f(tf.constant([1.0], tf.float64))\n"
        "except tf.errors.InvalidArgumentError as error:\n"
        "    print(error.message)\n"
    )
    text = "the graph was made from another version of `cube`, with other outputs"
    more = "void cube(const double* x, int n, double* y, double* z) "
    more += "{ for (int i = 0; i < n; i++) y[i] = z[i] = x[i]; }\n"
    for edited in (more, CUBE.replace("double* y", "float* y")):
        source.write_text(edited)
        assert text in run_python(load).stdout
