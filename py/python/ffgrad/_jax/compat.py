"""All of JAX that is not in its public documentation, and what differs between its versions: nothing else in ffgrad imports it.

JAX's public API cannot give a foreign call both forward and reverse mode (jax-ml/jax#27352), so there is a primitive
with rules of its own. ``jax.interpreters`` and ``jax.extend`` are importable by design, without a promise of stability;
``docs/jax.md`` names the versions that this was run with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import numpy as np
from jax import lax
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir
from jax.sharding import NamedSharding, PartitionSpec

ShapedArray = jax.core.ShapedArray
Tracer = jax.core.Tracer
Zero = ad.Zero

typeof: Callable[[Any], Any] = jax.typeof if hasattr(jax, "typeof") else jax.core.get_aval


def is_unknown(value: Any) -> bool:
    """Whether a transposition asks for the cotangent of this operand."""
    return bool(ad.is_undefined_primal(value))


def is_zero(value: Any) -> bool:
    """Whether a tangent or cotangent is known to be zero, without an array."""
    return isinstance(value, Zero)


def zero_like(value: Any) -> Any:
    """Return the symbolic zero that is a tangent or cotangent of a value."""
    aval = value if isinstance(value, jax.core.ShapedArray) else getattr(value, "aval", None)
    return Zero((typeof(value) if aval is None else aval).to_tangent_aval())


def shape_of(value: Any) -> tuple[int, ...]:
    """Return the shape of an operand, also of one whose cotangent is asked for, or of a number."""
    return tuple((value.aval if is_unknown(value) else typeof(value)).shape)


def is_weak(value: Any) -> bool:
    """Whether a value takes the type of what it meets, as Python numbers do."""
    return bool(getattr(typeof(value), "weak_type", False))


def array_type(shape: Sequence[int], dtype: np.dtype[Any], operands: Iterable[Any]) -> Any:
    """Return the abstract value of a result, in the mesh in which the operands are."""
    for aval in operands:
        sharding = getattr(aval, "sharding", None)
        mesh = getattr(sharding, "mesh", None)
        if mesh is not None and not mesh.empty:
            placed = NamedSharding(mesh, PartitionSpec(*[None] * len(shape)))
            return aval.update(shape=tuple(shape), dtype=dtype, weak_type=False, sharding=placed)
    return ShapedArray(tuple(shape), dtype)


def _varying(value: Any) -> frozenset[Any]:
    """Return the mesh axes over which a value inside ``shard_map`` differs."""
    aval = typeof(value)
    axes = getattr(aval, "vma", None)
    if axes is None:
        axes = getattr(getattr(aval, "manual_axis_type", None), "varying", None)
    return frozenset(axes or ())


def vary_alike(values: Sequence[Any]) -> list[Any]:
    """Inside ``shard_map``: let all operands differ over the same mesh axes, so that gradients are summed where they must."""
    own = [_varying(value) for value in values]
    everywhere = frozenset().union(*own)
    if not everywhere:
        return list(values)
    return [
        value if axes == everywhere else _cast(value, tuple(sorted(everywhere - axes)))
        for value, axes in zip(values, own, strict=True)
    ]


def _cast(value: Any, axes: tuple[Any, ...]) -> Any:
    return lax.pcast(value, axes, to="varying") if hasattr(lax, "pcast") else lax.pvary(value, axes)


def primitive(
    name: str,
    implementation: Callable[..., Any],
    abstract: Callable[..., Any],
    jvp: Callable[..., Any],
    transpose: Callable[..., Any],
    batch: Callable[..., Any],
    lower: Callable[..., Any],
    lower_elsewhere: Callable[..., Any],
) -> Any:
    """Make a primitive with several results; ``lower`` is for the CPU."""
    made = Primitive(name)
    made.multiple_results = True
    made.def_impl(implementation)
    made.def_abstract_eval(abstract)
    ad.primitive_jvps[made] = jvp
    ad.primitive_transposes[made] = transpose
    batching.primitive_batchers[made] = batch
    mlir.register_lowering(made, lower_elsewhere)
    mlir.register_lowering(made, lower, platform="cpu")
    return made
