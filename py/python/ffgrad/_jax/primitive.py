"""The primitive ``ffgrad``: any foreign function and its derivatives, with the rules for every transformation.

Which call differentiates which is the table of ``ffgrad/_closure.py``.
Every composition of forward and reverse mode that is of second order exists, and none is a zero by mistake.
A batch is one call: what is mapped has leading dimensions, what is shared has not (``call.py``).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from ffgrad import _native
from ffgrad._closure import ARGUMENTS, FORWARD, GRADIENTS, NEW, REVERSE, Rule, rule
from ffgrad._jax import compat
from ffgrad._jax.call import Array, Call, Foreign, Group, Groups, make
from ffgrad._jax.symbols import symbolic_results
from ffgrad._plan import bits, mask_of
from ffgrad.errors import DeviceError, DifferentiationError, DtypeError

TARGET = "ffgrad"

jax.ffi.register_ffi_target(TARGET, _native.xla_handler(), platform="cpu")


def bind(
    foreign: Foreign,
    kind: str,
    inputs: Group,
    *,
    cotangents: Group | None = None,
    tangents: Group | None = None,
    directions: Group | None = None,
    wanted: int = 0,
    batch: tuple[int, ...] = (),
    separate: int = 0,
) -> dict[int, Any]:
    """Bind the primitive; return results by position."""
    groups = Groups(inputs, cotangents or {}, tangents or {}, directions or {})
    call, operands = make(foreign, kind, groups, wanted, batch, separate)
    results = foreign_p.bind(*compat.vary_alike(operands), call=call)
    return dict(zip(call.results, results, strict=True))


# --- evaluation ---------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=4096)
def _compiled(call: Call) -> Any:
    return jax.jit(lambda *operands: foreign_p.bind(*operands, call=call))


def _evaluate(*operands: Any, call: Call) -> Any:
    if jax.config.jax_disable_jit:
        # A primitive has no other implementation than its compiled one.
        with jax.disable_jit(False):
            return _compiled(call)(*operands)
    return _compiled(call)(*operands)


def _types(*operands: Any, call: Call) -> list[Any]:
    """Shapes and types of the results; what does not fit is refused with the parameter's name."""
    foreign, rank = call.foreign, len(call.batch)
    groups = call.split(operands)
    elements = [(str(a.value.dtype), list(a.value.shape[rank * a.mapped :])) for a in groups.inputs.values()]
    outputs: Sequence[Sequence[Any]]
    if all(isinstance(size, int) for _, shape in elements for size in shape):
        outputs = [shape for _, shape in _native.result_types(foreign.native, elements)]
    else:
        outputs = symbolic_results(foreign, elements)
    for name, dtype in zip(foreign.outputs, foreign.output_dtypes, strict=True):
        require_type(foreign, name, dtype)
    types = []
    for i in call.results:
        if call.makes_gradients:
            like = groups.inputs[i].value
            shape = (*call.batch, *elements[i][1]) if call.separate >> i & 1 else like.shape
            element: Any = like.dtype
        else:
            shape = (*call.batch, *outputs[i])
            element = foreign.output_dtypes[i]
        types.append(compat.array_type(shape, element, operands))
    return types


def require_type(foreign: Foreign, parameter: str, dtype: Any) -> None:
    """Refuse 64-bit types while JAX has none."""
    if jax.dtypes.canonicalize_dtype(dtype) != dtype:
        hint = 'Switch 64-bit types on before the first use of JAX: jax.config.update("jax_enable_x64", True).'
        raise DtypeError(
            f"`{parameter}` of `{foreign.name}` is {dtype}, which JAX has not got while `jax_enable_x64` is off\n  {hint}",
            code="x64-disabled",
            function=foreign.name,
            expected=str(dtype),
            found=str(jax.dtypes.canonicalize_dtype(dtype)),
            hints=[hint],
        )


def _lower(context: Any, *operands: Any, call: Call) -> Any:
    # What cannot be built is refused here, not by an error of the executable, and Ctrl-C ends the build: not on a thread of XLA's.
    _native.prepare(call.foreign.native, call.differentiated, call.order)
    return jax.ffi.ffi_lowering(TARGET)(context, *operands, op=call.attribute())


def _lower_elsewhere(context: Any, *operands: Any, call: Call) -> Any:
    name = call.foreign.name
    hint = 'Let that part run on the CPU: jax.jit(f, device=jax.devices("cpu")[0]), or with jax.default_device(...).'
    raise DeviceError(
        f"`{name}` is compiled for the CPU, but is called in a computation for another device\n  {hint}",
        code="device",
        function=name,
        hints=[hint],
    )


# --- differentiation ----------------------------------------------------------------------------------


def _present(group: Group) -> Group:
    """Return what is not known to be zero."""
    return {i: array for i, array in group.items() if not compat.is_zero(array.value)}


def _jvp(primals: Sequence[Any], tangents: Sequence[Any], *, call: Call) -> tuple[list[Any], list[Any]]:
    given, moving = call.split(primals), Groups(*map(_present, call.split(tangents)))
    wanted = mask_of(moving.inputs) if call.kind == "primal" else call.wanted
    again = functools.partial(bind, call.foreign, inputs=given.inputs, batch=call.batch, separate=call.separate)
    rest: dict[str, Any] = {"cotangents": given.cotangents, "tangents": given.tangents, "directions": given.directions}
    values = again(kind=call.kind, wanted=wanted, **rest)
    terms = [
        _by(rule(FORWARD, call.kind, name), call, given, group, wanted=call.wanted, again=again)
        for name, group in zip(Groups._fields, moving, strict=True)
        if group
    ]
    changes = []
    for i, value in values.items():
        parts = [term[i] for term in terms if i in term]
        changes.append(functools.reduce(jnp.add, parts) if parts else compat.zero_like(value))
    return list(values.values()), changes


def _by(found: Rule | None, call: Call, given: Groups, new: Group, *, wanted: int, again: Any) -> dict[int, Any]:
    """Bind the call that a rule names."""
    if found is None:
        raise third_derivative(call.foreign)
    passed = {
        name: new if source == NEW else getattr(given, source)
        for name, source in zip(ARGUMENTS[found.operation], found.arguments, strict=True)
    }
    results: dict[int, Any] = again(
        kind=found.operation, wanted=wanted if found.operation in GRADIENTS else 0, **passed
    )
    return results


def third_derivative(foreign: Foreign) -> DifferentiationError:
    """Return the refusal of what no entry point computes."""
    hint = "Use jax.lax.stop_gradient where a third derivative is not meant."
    return DifferentiationError(
        f"third derivatives of the foreign function `{foreign.name}` are not available\n"
        f"  Values, first and second derivatives are. {hint}",
        code="third-derivative",
        function=foreign.name,
        hints=[hint],
    )


def _transpose(cotangents: Sequence[Any], *operands: Any, call: Call) -> list[Any]:
    """Cotangents of the operands in which the call is linear, one group at a time."""
    given = call.split(operands)
    (name,) = [
        n for n, g in zip(Groups._fields, given, strict=True) if any(compat.is_unknown(a.value) for a in g.values())
    ]
    unknown: Group = getattr(given, name)
    arriving = _present({i: _like_result(call, given, i, ct) for i, ct in zip(call.results, cotangents, strict=True)})
    answers: dict[int, Any] = {}
    if arriving:
        answers = _transposed(call, given, name, arriving)
    places = zip(call.places(), operands, strict=True)
    return [
        None if not compat.is_unknown(operand) else answers.get(i, compat.zero_like(unknown[i].value))
        for (_, i, _), operand in places
    ]


def _like_result(call: Call, given: Groups, i: int, cotangent: Any) -> Array:
    """Return the cotangent of a result, which has the result's batch dimensions."""
    if not call.makes_gradients:
        return Array(cotangent, bool(call.batch))
    return Array(cotangent, bool(call.separate >> i & 1) or given.inputs[i].mapped)


def _transposed(call: Call, given: Groups, name: str, arriving: Group) -> dict[int, Any]:
    unknown: Group = getattr(given, name)
    found = rule(REVERSE, call.kind, name)
    again = functools.partial(bind, call.foreign, inputs=given.inputs, batch=call.batch)
    if name == "cotangents":
        results = _by(found, call, given, arriving, wanted=0, again=again)
        return {i: _summed(results[i], True, unknown[i], call.batch) for i in unknown}
    wanted = mask_of(unknown)
    # The gradient of an input has the input's batch dimensions, unless it is asked for element by element.
    alike = [i for i in unknown if _same_dims(unknown[i], given.inputs[i])]
    separate = 0 if not call.batch else wanted & ~mask_of(alike)
    results = _by(found, call, given, arriving, wanted=wanted, again=functools.partial(again, separate=separate))
    return {i: _summed(results[i], bool(separate >> i & 1), unknown[i], call.batch) for i in unknown}


def _shape(array: Array) -> tuple[int, ...]:
    return compat.shape_of(array.value)


def _same_dims(one: Array, other: Array) -> bool:
    return one.mapped == other.mapped and _shape(one) == _shape(other)


def _summed(result: Any, whole: bool, target: Array, batch: tuple[int, ...]) -> Any:
    """Sum a result that has all batch dimensions over those that the target has not."""
    if not whole or not batch:
        return result
    rank = len(batch)
    if not target.mapped:
        return result.sum(axis=tuple(range(rank)))
    axes = tuple(d for d in range(rank) if _shape(target)[d] == 1 and batch[d] != 1)
    return result.sum(axis=axes, keepdims=True) if axes else result


# --- batching -----------------------------------------------------------------------------------------


def _batch(operands: Sequence[Any], dims: Sequence[Any], *, call: Call) -> tuple[list[Any], list[int]]:
    """One more batch dimension, in front of those there are."""
    (size,) = {x.shape[d] for x, d in zip(operands, dims, strict=True) if d is not None}
    old = len(call.batch)
    batch = (size, *call.batch)
    groups: Groups = Groups({}, {}, {}, {})
    for (group, i, mapped), operand, dim in zip(call.places(), operands, dims, strict=True):
        groups[group][i] = _with_dim(Array(operand, mapped), dim, old)
    separate, squeezed = call.separate, []
    if call.makes_gradients:
        is_new = {i: d is not None for (group, i, _), d in zip(call.places(), dims, strict=True) if group == 0}
        for i in bits(call.wanted & ~call.separate):
            x = groups.inputs[i]
            if not old and not is_new[i]:
                separate |= 1 << i
            elif old and not is_new[i]:
                # Summed over the batch dimensions that it has not, but not over the new one.
                ones = x.value if x.mapped else jnp.reshape(x.value, (1,) * (old + 1) + _shape(x))
                groups.inputs[i] = Array(jnp.broadcast_to(ones, (size, *ones.shape[1:])), True)
            if old and not call.mapped[0] >> i & 1:
                squeezed.append(i)
    results = bind(
        call.foreign,
        call.kind,
        groups.inputs,
        cotangents=groups.cotangents,
        tangents=groups.tangents,
        directions=groups.directions,
        wanted=call.wanted,
        batch=batch,
        separate=separate,
    )
    for i in squeezed:
        results[i] = results[i].squeeze(tuple(range(1, old + 1)))
    return list(results.values()), [0] * len(results)


def _with_dim(array: Array, dim: int | None, old: int) -> Array:
    value, mapped = array
    if dim is None:
        return Array(value[None] if mapped else value, mapped)
    value = jnp.moveaxis(value, dim, 0)
    if not mapped and old:
        value = value.reshape(value.shape[:1] + (1,) * old + value.shape[1:])
    return Array(value, True)


foreign_p = compat.primitive("ffgrad", _evaluate, _types, _jvp, _transpose, _batch, _lower, _lower_elsewhere)
