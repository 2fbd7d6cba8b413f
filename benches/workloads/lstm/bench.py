"""ADBench's LSTM language model, two layers over 1024 characters of 14 bits; its data where present, else seeded numbers of that shape."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from harness.data import adbench
from harness.problem import Function, Problem, rng

HERE = Path(__file__).resolve().parent


def problems(quick: bool) -> Iterator[Problem]:
    """Yield the row."""
    file = adbench("lstm_l2_c1024.txt")
    weights, output, state, sequence = _seeded(2, 1024, 14) if file is None else _read(file)
    layers, (length, bits) = len(weights) // 2, sequence.shape
    yield Problem(
        name="LSTM l2_c1024",
        folder=HERE,
        source=HERE / "lstm.c",
        function="lstm",
        signature="weights[2*l,4*b], output[3,b], const state[2*l,b], const sequence[c,b] -> return",
        inputs={"weights": weights, "output": output, "state": state, "sequence": sequence},
        wrt=("weights", "output"),
        cotangents={"return": np.float64(1.0)},
        dims={"l": layers, "c": length, "b": bits},
        primal="weights output state sequence l c b",
        gradient="weights output state sequence l c b dweights doutput",
        torch=lambda: _torch(_torch_step),
        compiled=_compiled,
        jax=_jax,
        options={"sizes": {"l": layers}},
    )


def _read(path: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    numbers = np.array(path.read_text().split(), dtype=np.float64)
    layers, length, bits = (int(v) for v in numbers[:3])
    parts = np.cumsum([8 * layers * bits, 3 * bits, 2 * layers * bits])
    weights, output, state, sequence = np.split(numbers[3:], parts)
    return (
        weights.reshape(2 * layers, 4 * bits).copy(),
        output.reshape(3, bits).copy(),
        state.reshape(2 * layers, bits).copy(),
        sequence.reshape(length, bits).copy(),
    )


def _seeded(layers: int, length: int, bits: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    draw = rng("lstm")
    sequence = draw.integers(0, 2, size=(length, bits)).astype(np.float64)
    return (
        draw.uniform(size=(2 * layers, 4 * bits)),
        draw.uniform(size=(3, bits)),
        draw.uniform(size=(2 * layers, bits)),
        sequence,
    )


def _step(lib: Any, weights: Any, output: Any, hidden: list[Any], cell: list[Any], x: Any, gold: Any) -> Any:
    """One character: the likelihood of the next, and the new state. ``lib`` is torch or jax.numpy with a sigmoid."""
    bits = x.shape[0]
    value = x * output[0]
    after_hidden, after_cell = [], []
    for k in range(len(hidden)):
        w, b = weights[2 * k].reshape(4, bits), weights[2 * k + 1].reshape(4, bits)
        forget = lib.sigmoid(value * w[0] + b[0])
        ingate = lib.sigmoid(hidden[k] * w[1] + b[1])
        outgate = lib.sigmoid(value * w[2] + b[2])
        change = lib.tanh(hidden[k] * w[3] + b[3])
        after_cell.append(cell[k] * forget + ingate * change)
        value = outgate * lib.tanh(after_cell[k])
        after_hidden.append(value)
    predicted = value * output[1] + output[2]
    normaliser = lib.log(lib.exp(predicted).sum() + 2.0)
    return (gold * (predicted - normaliser)).sum(), after_hidden, after_cell


def _torch_step(*arguments: Any) -> Any:
    import torch

    return _step(torch, *arguments)


def _torch(step: Callable[..., Any]) -> Function:
    def lstm(weights: Any, output: Any, state: Any, sequence: Any) -> Any:
        hidden, cell = list(state[0::2]), list(state[1::2])
        total = 0.0
        for t in range(len(sequence) - 1):
            value, hidden, cell = step(weights, output, hidden, cell, sequence[t], sequence[t + 1])
            total = total + value
        return -total / ((len(sequence) - 1) * sequence.shape[1])

    return lstm


def _compiled() -> Function:
    import torch

    return _torch(torch.compile(_torch_step, dynamic=False, fullgraph=True))


def _jax() -> Function:
    import jax
    import jax.numpy as jnp

    class Library:
        sigmoid = staticmethod(jax.nn.sigmoid)
        tanh, log, exp = staticmethod(jnp.tanh), staticmethod(jnp.log), staticmethod(jnp.exp)

    def lstm(weights: Any, output: Any, state: Any, sequence: Any) -> Any:
        def scanned(carry: Any, pair: Any) -> Any:
            value, hidden, cell = _step(Library, weights, output, *carry, *pair)
            return (hidden, cell), value

        start = (list(state[0::2]), list(state[1::2]))
        _, values = jax.lax.scan(scanned, start, (sequence[:-1], sequence[1:]))
        return -values.sum() / ((len(sequence) - 1) * sequence.shape[1])

    return lstm
