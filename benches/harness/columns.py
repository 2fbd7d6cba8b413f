"""The competitors: each makes, from a problem, a gradient and a primal to be called without arguments.

``gradient`` gives everything that a caller of the gradient pays: ffgrad's ``ffgrad`` columns call the native entry point (tensors in,
tensors out, f recomputed), ``ffgrad-torch`` goes through ``torch.autograd.grad``; ``hand`` and ``raw`` are C through ctypes into arrays that are
there already; PyTorch and JAX return new arrays. All run on one thread.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness import native
from harness.problem import Problem


class Unavailable(RuntimeError):
    """This competitor cannot run here; the text says why."""


@dataclass(frozen=True)
class Column:
    """One competitor, ready.

    Attributes
    ----------
    gradient, primal : callable
        To be timed. ``primal`` is ``None`` where it would be the same as another column's.
    result : callable
        Returns the gradients as arrays, in the order of ``Problem.wrt``.
    note : str
        Versions or flags.
    """

    gradient: Callable[[], Any]
    primal: Callable[[], Any] | None
    result: Callable[[], list[np.ndarray]]
    note: str = ""


NAMES = ["hand", "hand-fast", "hand-vec", "ffgrad", "ffgrad-fast", "ffgrad-tuned", "ffgrad-torch"]
NAMES += ["raw", "eager", "compile", "jax"]
OPTIONS: dict[str, dict[str, Any]] = {
    "ffgrad": {},
    "ffgrad-torch": {},
    "ffgrad-fast": {"math": "fast"},
    "ffgrad-tuned": {"tune": True},
}


def make(name: str, problem: Problem) -> Column:
    """Build a competitor.

    Parameters
    ----------
    name : str
        One of :data:`NAMES`, or ``ffgrad:option=value+option=value`` for the default with options.
    problem : Problem
        The row.

    Raises
    ------
    Unavailable
        If it cannot run here.
    """
    try:
        if name in native.HAND_FLAGS:
            return _native(native.hand(problem, name))
        if name == "raw":
            return _native(native.raw(problem))
        if name in OPTIONS:
            return _ffgrad(problem, OPTIONS[name], through_torch=name == "ffgrad-torch")
        if name.startswith("ffgrad:"):
            return _ffgrad(problem, _options(name), through_torch=False)
        return {"eager": _eager, "compile": _compile, "jax": _jax}[name](problem)
    except KeyError:
        raise
    except Exception as error:  # whatever stops a competitor is a remark in the report, not the end of the run
        text = " ".join(str(error).split())
        raise Unavailable(f"{type(error).__name__}: {text[:300]}") from error


def _options(name: str) -> dict[str, Any]:
    words = {"True": True, "False": False}
    pairs = (pair.split("=", 1) for pair in name.split(":", 1)[1].split("+"))
    plain = {key: words.get(value, int(value) if value.lstrip("-").isdigit() else value) for key, value in pairs}
    # Lists are divided by `;`, and `:` stands for `=` in them: engine_options=enzyme-max-cache:1;enzyme-rematerialize:0
    for key in {"engine_options", "without"} & plain.keys():
        plain[key] = [word.replace(":", "=") for word in str(plain[key]).split(";")]
    return plain


def _native(bound: native.Native) -> Column:
    def result() -> list[np.ndarray]:
        bound.gradient()
        return [array.copy() for array in bound.gradients.values()]

    return Column(bound.gradient, bound.primal, result, bound.note)


def _tensors(problem: Problem, gradients: bool) -> tuple[list[Any], list[Any], Any]:
    """Inputs, those of them with a gradient, and the cotangent."""
    import torch

    torch.set_num_threads(1)
    inputs = []
    for name, value in problem.inputs.items():
        tensor = torch.from_numpy(value) if isinstance(value, np.ndarray) else value
        if gradients and name in problem.wrt:
            tensor = tensor.clone().requires_grad_()
        inputs.append(tensor)
    wrt = [x for name, x in zip(problem.inputs, inputs, strict=True) if name in problem.wrt]
    (value,) = problem.cotangents.values()
    return inputs, wrt, torch.as_tensor(value)


def _ffgrad(problem: Problem, options: dict[str, Any], through_torch: bool) -> Column:
    from ffgrad.torch import enzyme

    function = enzyme(problem.source, problem.function, problem.signature, **{**problem.options, **options})
    inputs, wrt, cotangent = _tensors(problem, gradients=through_torch)
    arguments, cotangents, mask = tuple(inputs), (cotangent,), problem.mask
    entry = function._native
    if through_torch:
        return _autograd(function.apply, inputs, wrt, cotangent, "enzyme(...).apply and torch.autograd.grad")

    def gradient() -> Any:
        return entry.vjp(arguments, cotangents, mask)

    def result() -> list[np.ndarray]:
        return [g.numpy().copy() for g in gradient() if g is not None]

    note = "native vjp" + "".join(f", {key}={value!r}" for key, value in options.items())
    return Column(gradient, lambda: entry.primal(arguments, 0), result, note)


def _autograd(function: Callable[..., Any], inputs: list[Any], wrt: list[Any], cotangent: Any, note: str) -> Column:
    import torch

    def gradient() -> Any:
        return torch.autograd.grad(function(*inputs), wrt, cotangent)

    def primal() -> Any:
        with torch.no_grad():
            return function(*inputs)

    return Column(gradient, primal, lambda: [g.numpy().copy() for g in gradient()], note)


def _eager(problem: Problem) -> Column:
    import torch

    inputs, wrt, cotangent = _tensors(problem, gradients=True)
    return _autograd(problem.torch(), inputs, wrt, cotangent, f"torch {torch.__version__}")


def _compile(problem: Problem) -> Column:
    import torch

    inputs, wrt, cotangent = _tensors(problem, gradients=True)
    whole = problem.compiled is None
    function = torch.compile(problem.torch(), dynamic=False, fullgraph=True) if whole else problem.compiled()
    note = f"torch.compile {torch.__version__}" + ("" if whole else ", one step compiled, the loop in Python")
    return _autograd(function, inputs, wrt, cotangent, note)


def _jax(problem: Problem) -> Column:
    import jax

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")
    function = problem.jax()
    inputs = [jax.numpy.asarray(value) for value in problem.inputs.values()]
    which = [i for i, name in enumerate(problem.inputs) if name in problem.wrt]
    (value,) = problem.cotangents.values()
    cotangent = jax.numpy.asarray(value)

    @jax.jit
    def pulled(values: list[Any], seed: Any) -> Any:
        def of(active: list[Any]) -> Any:
            whole = list(values)
            for i, x in zip(which, active, strict=True):
                whole[i] = x
            return function(*whole)

        return jax.vjp(of, [values[i] for i in which])[1](seed)[0]

    forward = jax.jit(lambda values: function(*values))
    ready = jax.block_until_ready
    return Column(
        lambda: ready(pulled(inputs, cotangent)),
        lambda: ready(forward(inputs)),
        lambda: [np.asarray(g) for g in pulled(inputs, cotangent)],
        f"jax {jax.__version__}, jit",
    )
