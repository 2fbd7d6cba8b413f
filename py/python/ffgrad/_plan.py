"""A function's call plan as every front end reads it: names, element types, masks of positions, dimensions.

In: the manifest of an opened function. Out: :class:`Plan`. Nothing here knows a framework; what makes its element types is
given. Masks are bit sets of positions, of inputs or of outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ffgrad import _native
from ffgrad.errors import DtypeError

DTYPES = {"f32": "float32", "f64": "float64", "bool": "bool"}
DTYPES |= {f"{name[0]}{width}": f"{name}{width}" for name in ("int", "uint") for width in (8, 16, 32, 64)}
"""Element types by their names in a manifest: the names that NumPy, PyTorch, TensorFlow and JAX share."""


class Plan:
    """A function's call plan.

    Attributes
    ----------
    key : str
        The key of the function's entry in the cache: another one where a source was edited.
    function : str
        Its name.
    signature : str
        The signature in use, defaults included.
    args : list of dict
        The parameters, as in the manifest.
    inputs, outputs : list of int
        Which of them are inputs and outputs.
    names, output_names : list of str
        Their names, in order.
    input_dtypes, output_dtypes : list
        Their element types, in the types of the framework.
    differentiable : int
        Bit i is set where input i can have a gradient.
    floats : int
        Bit i is set where output i carries derivatives.
    sizes : dict
        The option of that name.
    texts : bool
        Whether any input can be a text.
    """

    def __init__(self, native: _native.Function, sizes: Mapping[str, int], dtype: Callable[[str], Any]) -> None:
        manifest = native.plan()
        plan = manifest["plan"]
        self.key: str = manifest["key"]
        self.function: str = manifest["prototype"]["function"]
        self.signature: str = plan["signature"]
        self.args: list[dict[str, Any]] = plan["args"]
        self.inputs: list[int] = plan["inputs"]
        self.outputs: list[int] = plan["outputs"]
        self.names: list[str] = [self.args[i]["name"] for i in self.inputs]
        self.output_names: list[str] = [self.args[i]["name"] for i in self.outputs]
        self.input_dtypes = [dtype(DTYPES[self.args[i]["dtype"]]) for i in self.inputs]
        self.output_dtypes = [dtype(DTYPES[self.args[i]["dtype"]]) for i in self.outputs]
        self.differentiable: int = native.differentiable
        floats = [position for position, i in enumerate(self.outputs) if self.args[i]["dtype"] in ("f32", "f64")]
        self.floats = mask_of(floats)
        self.sizes = dict(sizes)
        self.texts = any("text" in self.args[i] for i in self.inputs)

    def scalar(self, position: int) -> bool:
        """Whether input ``position`` is a scalar."""
        arg = self.args[self.inputs[position]]
        return not arg["shape"] and not arg["flat"]


def text_bytes(plan: Plan, position: int, value: str) -> bytes:
    """Return a text as the bytes that the parameter takes.

    A C string ends in a zero; a text of Fortran is filled up with blanks where its dummy has a length.

    Parameters
    ----------
    plan
        The function's call plan.
    position
        Which input it is.
    value
        The text.

    Raises
    ------
    DtypeError
        The parameter takes no text, or the text does not fit.
    """
    arg = plan.args[plan.inputs[position]] if position < len(plan.inputs) else {}
    name = arg.get("name", "an input")
    if "text" not in arg:
        raise _no_text(
            plan,
            f"`{name}` of `{plan.function}` cannot be given as a text",
            "Texts are for `char *` and `character` parameters.",
        )
    content = value.encode()
    if arg["text"] == "c":
        if b"\0" in content:
            raise _no_text(
                plan, f"the text for `{name}` has a zero character in it, which would end it there", "Leave it out."
            )
        return content + b"\0"
    length = arg["shape"][0].get("int")
    if length is not None and len(content) > length:
        raise _no_text(
            plan, f"the text for `{name}` has {len(content)} bytes, and the dummy has {length}", "Give a shorter one."
        )
    return content if length is None else content.ljust(length)


def _no_text(plan: Plan, text: str, hint: str) -> DtypeError:
    return DtypeError(f"{text}\n  {hint}", code="dtype", function=plan.function, hints=[hint])


# --- masks --------------------------------------------------------------------------------------------


def bits(mask: int) -> list[int]:
    """Return the positions of the bits that are set."""
    return [i for i in range(mask.bit_length()) if mask >> i & 1]


def mask_of(positions: Iterable[int]) -> int:
    """Return the number with these bits set."""
    return sum(1 << i for i in positions)


def pack(values: Sequence[Any], allowed: int) -> tuple[list[Any], int]:
    """Return the values that are there and allowed, and the mask of their positions."""
    mask = mask_of(i for i, value in enumerate(values) if value is not None) & allowed
    return [values[i] for i in bits(mask)], mask


def unpack(values: Iterable[Any], mask: int, count: int) -> list[Any]:
    """Return the values at the positions of the mask, ``None`` elsewhere."""
    left: Iterator[Any] = iter(values)
    return [next(left) if mask >> i & 1 else None for i in range(count)]


# --- dimensions ---------------------------------------------------------------------------------------


def _quotient(a: Any, b: Any) -> Any:
    # Whether a symbol of a tracer is 0 is not asked: that would fix its value.
    return None if isinstance(b, int) and b == 0 else a // b


_OPERATIONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "floordiv": _quotient,
}


def extent_of(dim: Mapping[str, Any], symbols: Mapping[str, Any]) -> Any:
    """Return the extent of a dimension.

    Parameters
    ----------
    dim
        An expression of the plan.
    symbols
        What its symbols stand for: integers, or symbols of a tracer.

    Returns
    -------
    int or symbol or None
        ``None`` where a symbol is not known.
    """
    ((kind, content),) = dim.items()
    if kind == "int":
        return content
    if kind == "sym":
        return symbols.get(content)
    left, right = (extent_of(part, symbols) for part in content)
    return None if left is None or right is None else _OPERATIONS[kind](left, right)


def split_batch(shape: Any, rank: int) -> tuple[Any, Any]:
    """Return the batch dimensions that ``...`` stands for, and the shape of an element of this rank."""
    at = len(shape) - rank
    return shape[:at], shape[at:]
