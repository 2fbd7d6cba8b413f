"""The conformance table as objects: ``cases.toml`` in, :class:`Case` out, with seeded NumPy inputs.

Every front end's tests use this module and none of them reads the TOML itself. Neighbours: ``../cases`` with the table, the
sources in folders by theme, and ``reference.py`` (what each program computes, in NumPy).

Keys of a ``[[case]]`` table
----------------------------
name, sources, function, reference
    Required. Sources are relative to the table's folder; ``reference`` names a function in ``reference.py`` there.
signature
    Omitted where the defaults are what is tested.
dtype
    Element type of inputs that give none: ``"float64"`` (the default) or ``"float32"``.
inputs
    In the order in which ``.apply`` takes them. ``name``; ``shape`` (``[]`` is a scalar); ``kind``: ``"normal"`` (the default),
    ``"positive"`` (0.5 to 2), ``"uniform(lo,hi)"``, ``"int(lo,hi)"`` (hi excluded), ``"bool"``, ``"spd"`` (a symmetric
    positive definite matrix); or ``value`` in place of shape and kind; ``dtype``; ``const`` (declared so in the signature).
options
    ``flags``, ``include_dirs`` (relative to the table's folder), ``defines``, ``sizes``, ``derivatives``, ``inactive``; ``grid``,
    ``block``, ``shared`` of CUDA kernels; ``repeat``, ``snapshots`` of loops over steps: as ``enzyme(...)`` takes them.
tolerance
    Overrides of :class:`Tolerance`.
tags
    For selecting cases. ``first-order``: second derivatives are refused, because a rule's own code, or what Enzyme made, cannot be differentiated again.
    ``slow-twice``: minutes pass before a second derivative is refused, so none is tried.
    ``fallback``: Enzyme is silently wrong (vjp or jvp) on the first pipeline, so right on a later one or refused
    with both numbers. ``refused``: Enzyme gives up on the first pipeline, so right on a later one or a ``DifferentiationError``.
language
    ``"c"``, ``"c++"`` or ``"fortran"``; by the first source's suffix where omitted.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOLDER = Path(__file__).resolve().parents[1] / "cases"
# Another folder with a `cases.toml`, sources and a `reference.py` of its own: `fortran`, for instance.
TABLE = FOLDER / os.environ.get("FFGRAD_CASES", "") / "cases.toml"

_CASE_KEYS = {"name", "sources", "function", "signature", "language", "dtype"}
_CASE_KEYS |= {"inputs", "options", "tolerance", "reference", "tags"}
_RANGE = re.compile(r"(uniform|int)\(([^,]+),([^,]+)\)")


@dataclass(frozen=True)
class Tolerance:
    """How closely a case must agree; all but ``step`` are relative to the larger of 1 and the value expected.

    Attributes
    ----------
    primal : float
        Values against the NumPy reference.
    gradient : float
        Gradients against central finite differences.
    identity : float
        The dot-product identity <v, J t> = <J^T v, t>.
    step : float
        Step of the finite differences.
    """

    primal: float
    gradient: float
    identity: float
    step: float


_TOLERANCES = {
    "float64": Tolerance(primal=1e-12, gradient=1e-6, identity=1e-11, step=1e-6),
    "float32": Tolerance(primal=2e-5, gradient=2e-2, identity=1e-4, step=1e-2),
}


@dataclass(frozen=True)
class Input:
    """One argument of ``.apply``.

    Attributes
    ----------
    name : str
        The parameter's own name.
    dtype : str
        NumPy name of the element type.
    shape : tuple of int
        Shape; ``()`` is a scalar.
    kind : str
        How values are drawn, see the module's docstring.
    const : bool
        Whether the signature declares it ``const``.
    value : object
        Literal values in place of drawn ones, else ``None``.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    kind: str = "normal"
    const: bool = False
    value: Any = None

    @property
    def differentiable(self) -> bool:
        """Whether a gradient with respect to this input exists."""
        return self.dtype.startswith("float") and not self.const

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """Return values for this input, C-contiguous and owned by the caller."""
        values = _draw(self, rng) if self.value is None else self.value
        return np.array(values, dtype=self.dtype, order="C")


@dataclass(frozen=True)
class Case:
    """One program of the table; see the module's docstring for the keys."""

    name: str
    sources: tuple[Path, ...]
    function: str
    signature: str | None
    language: str
    dtype: str
    inputs: tuple[Input, ...]
    reference: str
    tolerance: Tolerance
    flags: tuple[str, ...] = ()
    include_dirs: tuple[Path, ...] = ()
    defines: dict[str, str | int] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    launch: dict[str, Any] = field(default_factory=dict)
    derivatives: dict[str, list[str]] = field(default_factory=dict)
    inactive: tuple[str, ...] = ()
    tags: frozenset[str] = frozenset()
    folder: Path = FOLDER

    def __str__(self) -> str:
        return self.name

    @property
    def source(self) -> str | list[str]:
        """First argument of ``enzyme``: a path, or a list where there are several."""
        paths = [str(path) for path in self.sources]
        return paths[0] if len(paths) == 1 else paths

    @property
    def options(self) -> dict[str, Any]:
        """Keyword arguments of ``enzyme``, only those that the case sets."""
        options = {
            "flags": list(self.flags),
            "include_dirs": [str(path) for path in self.include_dirs],
            "defines": dict(self.defines),
            "sizes": dict(self.sizes),
            "derivatives": dict(self.derivatives),
            "inactive": list(self.inactive),
            **self.launch,
        }
        return {key: value for key, value in options.items() if value}

    def make_inputs(self, seed: int = 0) -> list[np.ndarray]:
        """Return fresh inputs in ``.apply`` order, the same for the same seed on every machine.

        Parameters
        ----------
        seed : int
            Another seed, other values; literal inputs stay as they are.
        """
        rng = np.random.default_rng([zlib.crc32(self.name.encode()), seed])
        return [item.draw(rng) for item in self.inputs]

    def expected(self, inputs: list[np.ndarray]) -> tuple[np.ndarray, ...]:
        """Return the outputs in signature order, computed by the NumPy reference.

        Parameters
        ----------
        inputs : list of ndarray
            As :meth:`make_inputs` returns them; not changed.
        """
        function = getattr(_references(self.folder), self.reference)
        result = function(*(value.copy() for value in inputs), **self.sizes)
        outputs = result if isinstance(result, tuple) else (result,)
        return tuple(np.asarray(value) for value in outputs)


def load_cases(
    path: Path = TABLE,
    *,
    tags: Collection[str] = (),
    exclude: Collection[str] = (),
    names: Collection[str] = (),
) -> Iterator[Case]:
    """Yield the cases of the table, in its order.

    Parameters
    ----------
    path : Path
        The TOML file; sources are relative to its folder.
    tags : collection of str
        Only cases with at least one of these; all where empty.
    exclude : collection of str
        No case with any of these.
    names : collection of str
        Only these cases; all where empty.

    Raises
    ------
    ValueError
        If a table has an unknown key or names a source or reference that is not there.
    """
    with path.open("rb") as file:
        tables = tomllib.load(file)["case"]
    seen: set[str] = set()
    for table in tables:
        case = _case(table, path.parent)
        if case.name in seen:
            raise ValueError(f"{path.name}: two cases are named `{case.name}`")
        seen.add(case.name)
        wanted = not names or case.name in names
        if wanted and (not tags or case.tags & set(tags)) and not case.tags & set(exclude):
            yield case


def _case(table: dict[str, Any], folder: Path) -> Case:
    name = table["name"]
    if unknown := set(table) - _CASE_KEYS:
        raise ValueError(f"case `{name}`: unknown keys {sorted(unknown)}")
    sources = tuple(folder / source for source in table["sources"])
    if missing := [str(source) for source in sources if not source.is_file()]:
        raise ValueError(f"case `{name}`: no such file {missing}")
    if not hasattr(_references(folder), table["reference"]):
        raise ValueError(f"case `{name}`: reference.py has no `{table['reference']}`")
    dtype = table.get("dtype", "float64")
    options = table.get("options", {})
    defaults = _TOLERANCES[dtype]
    return Case(
        name=name,
        sources=sources,
        function=table["function"],
        signature=table.get("signature"),
        language=table.get("language", _language(sources[0])),
        dtype=dtype,
        inputs=tuple(_input(item, dtype) for item in table["inputs"]),
        reference=table["reference"],
        tolerance=Tolerance(**{**vars(defaults), **table.get("tolerance", {})}),
        flags=tuple(options.get("flags", ())),
        include_dirs=tuple(folder / include for include in options.get("include_dirs", ())),
        defines=options.get("defines", {}),
        sizes=options.get("sizes", {}),
        launch={key: options[key] for key in ("grid", "block", "shared", "repeat", "snapshots") if key in options},
        derivatives=options.get("derivatives", {}),
        inactive=tuple(options.get("inactive", ())),
        tags=frozenset(table.get("tags", ())),
        folder=folder,
    )


def _language(source: Path) -> str:
    if source.suffix.lower().startswith(".f"):
        return "fortran"
    return "c" if source.suffix == ".c" else "c++"


def _input(item: dict[str, Any], dtype: str) -> Input:
    value = item.get("value")
    return Input(
        name=item["name"],
        dtype=item.get("dtype", dtype),
        shape=tuple(item["shape"]) if value is None else np.shape(value),
        kind=item.get("kind", "normal"),
        const=item.get("const", False),
        value=value,
    )


def _draw(item: Input, rng: np.random.Generator) -> np.ndarray:
    if item.kind == "normal":
        return rng.standard_normal(item.shape)
    if item.kind == "positive":
        return rng.uniform(0.5, 2.0, item.shape)
    if item.kind == "bool":
        return rng.random(item.shape) < 0.5
    if item.kind == "spd":
        n = item.shape[0]
        square = rng.standard_normal(item.shape)
        return square @ square.T + n * np.eye(n)
    match = _RANGE.fullmatch(item.kind)
    if match is None:
        raise ValueError(f"input `{item.name}`: unknown kind {item.kind!r}")
    low, high = float(match[2]), float(match[3])
    if match[1] == "int":
        return rng.integers(int(low), int(high), item.shape)
    return rng.uniform(low, high, item.shape)


@lru_cache
def _references(folder: Path) -> SimpleNamespace:
    """Return the references of a table: those of ``reference.py`` and of files named ``reference_*.py`` beside it."""
    found: dict[str, Any] = {}
    for path in [*sorted(folder.glob("reference_*.py")), folder / "reference.py"]:
        found.update(vars(_module(path)))
    return SimpleNamespace(**found)


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"ffgrad_case_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot load {path}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
