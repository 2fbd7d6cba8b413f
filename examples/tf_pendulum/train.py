"""A Keras model that measures pendulums on film, taught by a C++ simulation inside it.

An encoder gets 4 s of noisy angles and predicts three numbers: angle and speed at the start, and length. Training has
no labels for them. The next layer is ``pendulum.cpp``, which simulates such a pendulum, with a friction
that is a weight of the layer; the loss is the difference between its angles and the film. Since that error flows back
through the simulation, the encoder learns to measure and training finds the friction. The result is then simulated
for 12 s, three times as long as any film of the training. The lengths that are far off are those of pendulums that hardly swing:
their films show little but noise.

All data are made here, from a seed. The plot goes to ``examples/out/tf_pendulum.png``.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import matplotlib
import numpy as np
import tensorflow as tf
from ffgrad.tf import EnzymeLayer, enzyme

matplotlib.use("Agg")
from matplotlib import pyplot as plt

HERE = Path(__file__).resolve().parent
SOURCE = HERE / "pendulum.cpp"
SIGNATURE = "start[b,2], length[b], damping -> theta[b,t]"
STEP, SHOWN, LATER = 0.05, 80, 240  # 20 pictures a second, for 4 s and 12 s
DEFINES = {"DT": STEP}
FRICTION, NOISE = 0.15, 0.05  # 1/s, and radians


def main() -> None:
    """Make data, train, measure, foretell, plot."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--epochs", type=int, default=60, help="passes over the training data (default: 60)")
    parser.add_argument("--out", type=Path, default=HERE.parent / "out", help="folder of the plot")
    options = parser.parse_args()
    tf.keras.utils.set_random_seed(0)

    films, _, _ = filmed(1024)
    new_films, truth, lengths = filmed(256)

    shown = tf.keras.Input([SHOWN])
    start, length = encoder(shown)
    simulation = EnzymeLayer(
        SOURCE, "swing", SIGNATURE, options={"defines": DEFINES, "sizes": {"t": SHOWN}}, parameters={"damping": 0.0}
    )
    model = tf.keras.Model(shown, simulation([start, length]))
    measure = tf.keras.Model(shown, [start, length])

    began = time.perf_counter()
    steps = options.epochs * len(films) // 64
    model.compile(tf.keras.optimizers.Adam(tf.keras.optimizers.schedules.CosineDecay(5e-3, steps)), "mse")
    history = model.fit(films, films, batch_size=64, epochs=options.epochs, verbose=0).history["loss"]
    seconds = time.perf_counter() - began
    print(f"{steps} steps in {seconds:.1f} s; error {history[0] ** 0.5:.3f} to {history[-1] ** 0.5:.3f} rad")

    starts, measured = measure.predict(new_films, verbose=0)
    friction = simulation.parameters["damping"].numpy()
    print(f"friction found: {friction:.3f} per second (true {FRICTION}, begun with 0)")
    print(f"lengths of 256 new pendulums: {typical(measured - lengths):.3f} m off (they are 0.5 to 2 m)")
    angles = swing(starts.astype(np.float64), measured.astype(np.float64), friction).numpy()
    print(f"angles over {LATER * STEP:.0f} s: {typical(angles - truth):.3f} rad off (each film had noise of {NOISE})")
    plot(options.out, new_films, truth, angles, lengths, measured)


def typical(values: np.ndarray) -> float:
    """Median of the absolute values."""
    return float(np.median(np.abs(values)))


# The same C++ as in the model, for a longer time.
swing = enzyme(SOURCE, "swing", SIGNATURE, defines=DEFINES, sizes={"t": LATER})


def filmed(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return noisy angles [count, SHOWN], the true ones [count, LATER], and lengths [count]."""
    rng = np.random.default_rng(count)
    start = np.stack([rng.uniform(-2, 2, count), rng.uniform(-1, 1, count)], axis=1)
    lengths = rng.uniform(0.5, 2.0, count)
    truth = swing(start, lengths, FRICTION).numpy()
    return truth[:, :SHOWN] + NOISE * rng.standard_normal([count, SHOWN]), truth, lengths


def encoder(shown: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Return angle and speed at the start [b, 2], and length [b]."""
    hidden = tf.keras.layers.Dense(128, "gelu")(shown)
    hidden = tf.keras.layers.Dense(64, "gelu")(hidden)
    raw = tf.keras.layers.Dense(1)(hidden)
    length = tf.keras.layers.Lambda(lambda raw: 0.2 + tf.nn.softplus(raw[:, 0] + 0.5), name="length")(raw)
    return tf.keras.layers.Dense(2, name="start")(hidden), length


def plot(
    folder: Path, films: np.ndarray, truth: np.ndarray, angles: np.ndarray, lengths: np.ndarray, measured: np.ndarray
) -> None:
    """Two new pendulums, filmed, true and predicted; lengths found beside the true ones."""
    figure, axes = plt.subplots(1, 3, figsize=(13.6, 4), layout="constrained", width_ratios=[4, 4, 3.6])
    times = STEP * np.arange(LATER)
    for axis, i in zip(axes, (0, 1), strict=False):
        axis.axvspan(0, STEP * SHOWN, color="0.93")
        axis.plot(times[:SHOWN], films[i], ".", color="0.55", markersize=4, label="filmed (grey: shown)")
        axis.plot(times, truth[i], color="black", linewidth=1, label="true")
        axis.plot(times, angles[i], "--", color="tab:blue", label="predicted")
        axis.set(
            xlabel="time [s]",
            ylabel="angle [rad]",
            title=f"a pendulum of {lengths[i]:.2f} m, found {measured[i]:.2f} m",
        )
    axes[0].legend(fontsize=8)
    axes[2].plot([0.5, 2], [0.5, 2], color="0.7", linewidth=1)
    swung = axes[2].scatter(lengths, measured, s=6, c=np.abs(films).max(axis=1), cmap="viridis")
    figure.colorbar(swung, label="largest angle filmed [rad]")
    axes[2].set(xlabel="true length [m]", ylabel="length found [m]", title="256 new pendulums")
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "tf_pendulum.png", dpi=120)
    print(f"plot: {folder / 'tf_pendulum.png'}")


if __name__ == "__main__":
    main()
