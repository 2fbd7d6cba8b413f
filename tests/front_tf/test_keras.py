"""A foreign function as a Keras layer: trained, saved, loaded."""

from __future__ import annotations

from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf
from ffgrad.tf import EnzymeLayer, enzyme
from support.fixtures import RunPython, Write

# A spring with a trainable stiffness and offset, for a batch at once.
SPRING = """
void spring(const double* x, double k, const double* offset, int b, int n, double* force) {
  for (int i = 0; i < b; i++)
    for (int j = 0; j < n; j++) force[i * n + j] = -k * (x[i * n + j] - offset[j]);
}
"""
SIGNATURE = "x[b,n], k, offset[n] -> force[b,n]"
K, OFFSET = 3.0, [0.5, -1.0]


@pytest.fixture
def source(write: Write) -> Path:
    """The file."""
    return write(SPRING, "spring.c")


def model_of(source: Path) -> keras.Model:
    """Return a functional model whose only weights are the spring's."""
    x = keras.Input([2])
    layer = EnzymeLayer(source, "spring", SIGNATURE, parameters={"k": 1.0, "offset": [0.0, 0.0]}, name="spring")
    return keras.Model(x, layer(x))


def data() -> tuple[np.ndarray, np.ndarray]:
    """Positions and forces of the true spring."""
    x = np.random.default_rng(0).standard_normal([256, 2])
    return x, -K * (x - OFFSET)


def fitted(source: Path) -> keras.Model:
    """Return the model after training."""
    model = model_of(source)
    model.compile(keras.optimizers.Adam(0.1), "mse")
    model.fit(*data(), epochs=40, batch_size=32, verbose=0)
    return model


def test_fit_finds_the_parameters(source: Path) -> None:
    """With Keras's own defaults for graphs and XLA."""
    layer = fitted(source).get_layer("spring")
    assert layer.parameters["k"].numpy() == pytest.approx(K, abs=1e-2)
    np.testing.assert_allclose(layer.parameters["offset"].numpy(), OFFSET, atol=1e-2)
    assert sorted(weight.name for weight in layer.trainable_weights) == ["k", "offset"]


def test_the_shapes_of_a_symbolic_call_are_known(source: Path) -> None:
    """All but the batch; the type is the function's own."""
    model = model_of(source)
    assert model.output_shape == (None, 2)
    assert model.output.dtype == "float64"
    assert model.count_params() == 3


def test_a_saved_keras_model_is_loaded_in_another_process(source: Path, tmp_path: Path, run_python: RunPython) -> None:
    """Weights, source and signature are in the file; training continues."""
    model = fitted(source)
    model.save(tmp_path / "spring.keras")
    np.save(tmp_path / "x.npy", data()[0])
    run_python(
        "import keras, numpy as np\n"
        "import ffgrad.tf\n"
        "model = keras.models.load_model('spring.keras')\n"
        "x = np.load('x.npy')\n"
        "np.save('y.npy', model.predict(x, verbose=0))\n"
        "model.fit(x, -3.0 * x, epochs=1, verbose=0)\n"
    )
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), model.predict(data()[0], verbose=0))


def test_an_exported_model_is_served_without_keras_code(source: Path, tmp_path: Path, run_python: RunPython) -> None:
    """A SavedModel with the operation in its graph."""
    model = fitted(source)
    model.export(str(tmp_path / "exported"), verbose=False)
    done = run_python(
        "import tensorflow as tf\n"
        "import ffgrad.tf\n"
        "model = tf.saved_model.load('exported')\n"
        "served = model.serve(tf.constant([[0.5, -1.0]]))\n"
        "print(served.shape, float(tf.reduce_max(tf.abs(served))) < 0.1)\n"
    )
    assert done.stdout.strip() == "(1, 2) True"


def test_a_layer_made_from_its_config_is_the_same(source: Path) -> None:
    """Options included."""
    text = source.read_text().replace("-k", "SIGN k")
    source.write_text(text)
    layer = EnzymeLayer(
        source, "spring", SIGNATURE, parameters={"k": 2.0}, options={"defines": {"SIGN": "-"}}, name="signed"
    )
    again = EnzymeLayer.from_config(layer.get_config())
    inputs = [np.ones([3, 2]), np.zeros(2)]
    np.testing.assert_array_equal(layer(inputs), again(inputs))
    assert again.name == "signed"
    by_name = layer({"x": inputs[0], "offset": inputs[1]})
    np.testing.assert_array_equal(by_name, -2.0 * inputs[0])


def test_a_subclassed_model_calls_the_operation(source: Path) -> None:
    """No layer is needed; XLA, which Keras tries by itself, must be off."""

    class Model(keras.Model):
        def __init__(self) -> None:
            super().__init__(dtype="float64")
            self.spring = enzyme(source, "spring", SIGNATURE)
            self.k = self.add_weight(name="k", shape=[], initializer="ones")

        def call(self, x: tf.Tensor) -> tf.Tensor:
            return self.spring(x, self.k, OFFSET)

    model = Model()
    model.compile(keras.optimizers.Adam(0.1), "mse", jit_compile=False)
    model.fit(*data(), epochs=30, batch_size=32, verbose=0)
    assert model.k.numpy() == pytest.approx(K, abs=1e-2)


def test_parameters_must_be_inputs_with_a_gradient(source: Path) -> None:
    """The message names those that are."""
    with pytest.raises(ValueError, match="no input `stiffness`.*\n.*`x`, `k`, `offset`"):
        EnzymeLayer(source, "spring", SIGNATURE, parameters={"stiffness": 1.0})
    layer = EnzymeLayer(source, "spring", SIGNATURE, parameters={"k": 1.0})
    with pytest.raises(ValueError, match=r"takes 2 inputs \(x, offset\), 1 was given"):
        layer(np.ones([3, 2]))


@pytest.mark.parametrize("policy", ["mixed_bfloat16", "mixed_float16"])
def test_mixed_precision_trains_the_layer_in_its_own_type(policy: str, source: Path) -> None:
    """Whatever arrives is converted; weights and results have the function's type."""
    keras.mixed_precision.set_dtype_policy(policy)
    try:
        layer = EnzymeLayer(source, "spring", SIGNATURE, parameters={"k": 1.0, "offset": [0.0, 0.0]})
        model = keras.Sequential([keras.layers.Dense(2), layer, keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        history = model.fit(np.ones((8, 3), np.float32), np.ones((8, 1), np.float32), epochs=3, verbose=0)
    finally:
        keras.mixed_precision.set_dtype_policy("float32")
    losses = history.history["loss"]
    # In float16 the first steps are left out: they find the scale of the loss.
    assert np.isfinite(losses).all() and (losses[-1] < losses[0] or policy == "mixed_float16")
    half = tf.ones([4, 2], tf.bfloat16)
    assert layer(half).dtype == tf.float64 and all(w.dtype == "float64" for w in layer.weights)
    with tf.GradientTape() as tape:
        tape.watch(half)
        y = tf.reduce_sum(layer(half))
    assert tape.gradient(y, half).dtype == tf.bfloat16
