"""What the front ends share: opening a foreign function with the user's options."""

from __future__ import annotations

import inspect
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypedDict, TypeVar

from ffgrad import _arguments, _native, toolchain
from ffgrad._arguments import LAUNCH, check_names, counted, plain, source_files
from ffgrad._plan import Plan
from ffgrad.errors import ArgumentError, CompileError, SignatureError, ToolchainError

if TYPE_CHECKING:
    from typing_extensions import Self

__version__: str = _native.__version__

_native.add_worker_dir(str(Path(__file__).with_name("bin")))

Source = str | os.PathLike[str]
Chooser = Callable[[dict[str, int]], int | Sequence[int]]
Extent = int | str | Chooser
Extents = Extent | Sequence[int | str]


class Options(TypedDict, total=False):
    """Options of ``enzyme``, the same in every front end.

    Generated from ``compile-driver/src/options.rs``.

    Attributes
    ----------
    flags : list of str
        Further compiler flags: ``["-std=c++20"]``; ``["-fopenmp"]`` for OpenMP (``docs/parallel.md``).
    include_dirs : list of path
        Folders for ``#include``.
    defines : dict
        Macros; ``True`` or ``None`` defines the name alone.
    libraries : list of str
        Libraries to link: names (``"m"``; ``-L`` in ``flags`` names folders for them) or paths.
    sizes : dict
        Values of dimension symbols that no input shape gives.
    math : {"strict", "contract", "fast"}
        Floating-point mode. ``"strict"``: IEEE, operation by operation. ``"contract"``: the source's operations keep
        their order, NaN and infinity are as in IEEE, but multiply-add may be fused, loops may call the C library's
        vector functions (4 units in the last place), and what only the derivative computes (its own operations, sums
        that it recomputes) may be reordered. ``"fast"``: as ``-ffast-math``.
    cpu : str
        The CPU to compile for: this machine's, or a level that many share: ``"x86-64"``, ``"x86-64-v2"``,
        ``"x86-64-v3"``, ``"x86-64-v4"``.
    inactive : list of str
        Functions that carry no derivative.
    derivatives : dict
        Derivatives that are given: ``{"lookup": ("lookup_fwd", "lookup_rev")}`` names the forward and the reverse
        function, and a third one that saves, if needed. ``{"solve": implicit("residual")}`` differentiates a solver by
        the implicit function theorem (``docs/custom-derivatives.md``, which also lists the derivatives that BLAS,
        LAPACK and special functions have).
    verify : {"once", "always", "strict", "off"}
        When the gradient is checked against forward mode and finite differences. ``"once"``: at the first call with
        each of the first eight sizes. ``"always"``: at every call. ``"strict"``: as ``"once"``, and refuses where the
        others warn: at a disagreement with finite differences at these arguments alone (a kink, noise). ``"off"``:
        never.
    bounds : {"once", "check"}
        When the function runs once more, in another process, with pages without access around each array, so that an
        access outside of them is an error. ``"once"``: at the first call with each of the first eight sizes.
        ``"check"``: before every call and gradient, on the CPU, for CUDA kernels too, for as long as it takes; the
        error names the element (``docs/debugging.md``).
    loose_types : bool
        Let Enzyme guess types that it cannot deduce, from the first pipeline on; the result is checked like any other.
        A ``memcpy`` of memory whose type is unknown is still refused: Enzyme would take it for pointers, and lose
        derivatives.
    arena : bool
        Let the derivative allocate from an arena, a block of memory of its thread that is released after each call,
        instead of by ``malloc``.
    tune : bool
        Build several variants at the first gradient (a few seconds), time them on those arguments and keep the fastest.
        One has the sizes of those arguments as constants, and serves calls with these sizes only.
    mode : {"recompute", "tape"}
        ``"recompute"``: the gradient runs the function again. ``"tape"``: the forward call keeps what the gradient
        needs, on a tape. Tapes exist in PyTorch's eager mode only; second gradients, batches and transforms recompute,
        with the same bits. A function without an arena, or with parallel regions, keeps no tape.
    specialize : bool
        Build a variant for the sizes of each call (their dimensions as constants), kept where it is faster on those
        arguments; for at most 16 sets of sizes.
    without : list of str
        Passes of the worker to leave out, to measure an optimisation or to find a fault: optimisations
        (``ARCHITECTURE.md`` describes them) or, for experts, workarounds. ``ffgrad show --passes`` lists all names.
    threads : int
        The number of threads for a call over a batch (``vmap``, ``...`` in a signature): 1 if not given; 0 is one for
        each core. It is also the number of threads of OpenMP regions: the runtime's if not given; 1 overrides what the
        source asks for.
    mpi : bool
        The source uses MPI: flags of ``mpicc``, and gradients checked by all ranks together (``docs/parallel.md``).
    engine_options : list of str
        Further options of Enzyme, ``["enzyme-max-cache=1"]``; for experts.
    pipeline : str
        The pipeline that is tried first, of those that prepare a function for Enzyme
        (``docs/understanding/how-it-works.md``). ``"serial"`` runs OpenMP's regions by one thread. The values are
        ``"inlined"``, ``"o1"``, ``"o2"``, ``"outlined"``, ``"typed"``, ``"apart"``, ``"guarded"``, ``"generic"``,
        ``"guarded-apart"``, ``"generic-apart"``, ``"serial"``, ``"loose"``.
    engine : str
        The packaging of Enzyme: ``"auto"``, ``"catalyst"``, ``"plugin"``, or the path of an ``LLVMEnzyme-NN.so`` (LLVM
        22 or later).
    timeout : int
        Seconds of CPU time that each run of a compiler and of Enzyme may take. A run that takes longer ends, as an
        error. All pipelines of one derivative share the same time: once it is spent, no further pipeline is tried, and
        the error says so.
    grid : int, str, sequence of them, or callable
        For CUDA kernels: blocks of the grid along x, y, z; numbers, or expressions over the dimensions,
        ``"(n + 255) // 256"``. A callable takes a dict of the dimensions and returns one or several numbers. Without it
        there is one thread for each element of the first output (``docs/cuda.md``).
    block : int, str, sequence of them, or callable
        For CUDA kernels: threads of a block along x, y, z; as ``grid``.
    shared : int, str or callable
        For CUDA kernels: bytes of dynamic shared memory of a block.
    repeat : str
        The function is one step of a loop: the dimension of the signature over whose indices it is called, ``"t"``
        (``docs/checkpointing.md``).
    snapshots : int
        With ``repeat``: how many states the reverse mode keeps; it computes the others again. As many as ``memory``
        holds where not given.
    memory : str
        With ``repeat``: bytes for snapshots, ``"2G"``; half of what is free where not given.
    schedule : {"binomial", "periodic"}
        With ``repeat``: how snapshots are placed. ``"binomial"``: with the fewest steps computed again (revolve).
        ``"periodic"``: at equal distances; refused where there are too few of them.
    snapshot_dir : path
        With ``repeat``: a folder for snapshots that do not fit ``memory``. Nothing stays in it.
    compress : bool
        With ``snapshot_dir``: compress the snapshots there (LZ4). Pays where the disk is slower than a processor and
        states are smooth.
    until : str
        With ``repeat``: the name of an integer that is carried from step to step, ``"done"``: the loop ends after the
        first step that sets it to a nonzero value, or when the dimension's steps are done.
    checkpoint : dict
        Loops inside the function whose gradient keeps the given number of states and computes the others again,
        ``{"heat.c:42": 20}``: file and line where each begins, and the number of snapshots (``docs/checkpointing.md``).
        C and C++ sources can mark them with ``FFGRAD_CHECKPOINT(20)``, Fortran with ``!$ffgrad checkpoint(20)``.
    progress : bool
        With ``repeat``: show on a terminal how far a reverse sweep is that takes longer than two seconds.
    constants : dict
        For CUDA kernels: the values of ``__constant__`` memory that the source's host code would copy there,
        ``{"name": array}``; no gradient is taken with respect to them.
    """

    flags: Iterable[str]
    include_dirs: Iterable[Source]
    defines: Mapping[str, str | int | float | bool | None]
    libraries: Iterable[str]
    sizes: Mapping[str, int]
    math: str
    cpu: str
    inactive: Iterable[str]
    derivatives: Mapping[str, Iterable[str] | Mapping[str, Any]]
    verify: str
    bounds: str
    loose_types: bool
    arena: bool
    tune: bool
    mode: str
    specialize: bool
    without: Iterable[str]
    threads: int
    mpi: bool
    pipeline: str
    engine_options: Iterable[str]
    engine: str
    timeout: int
    grid: Extents
    block: Extents
    shared: Extent
    repeat: str
    snapshots: int
    memory: str
    schedule: str
    snapshot_dir: Source
    compress: bool
    until: str
    checkpoint: Mapping[str, int]
    progress: bool
    constants: Mapping[str, Any]


def copies() -> dict[str, int]:
    """Bytes copied by this process so far, by reason.

    Returns
    -------
    dict
        ``gathered``: inputs that were not contiguous; ``in_place``: arguments that the foreign code updates, and the
        arguments of checks; ``cotangents``: shadows that the reverse mode consumes. A forward call with contiguous
        inputs adds nothing.
    """
    return dict(_native.copies())


MASKED = (
    "is a masked array, and the function would read what is masked too",
    "Give its data where nothing is masked (x.data), or what stands for masked elements (x.filled(0.0)).",
)
"""What is wrong with one, and what to do."""


def is_masked(x: Any) -> bool:
    """Whether it is a masked array, without an import: ``np.ma`` would import in the first call, which a fork meanwhile does not survive."""
    loaded = sys.modules.get("numpy.ma") if hasattr(x, "mask") else None
    return loaded is not None and isinstance(x, getattr(loaded, "MaskedArray", ()))


_PARAMETERS = """\
Parameters
----------
source
    The source file, or several that belong together; or a pack (``docs/packs.md``), where the signature and options that
    change code are those it was packed with.
function
    Name of the function: a C name, a C++ name (``"ns::f"``, ``"ns::f(double const*, int)"`` where overloaded) or a
    template instance (``"f<double>"``).
signature
    Shapes and roles, ``"A[m,n], x[n] -> y[m]"``: inputs left of the arrow, outputs right, scratch after ``;``. Without
    it pointers that are only read are inputs, those only written are outputs, and integers are the number of elements.
**options
    See :class:`ffgrad._core.Options`."""
_ERRORS = """\
Raises
------
ArgumentError
    An argument or an option is of a kind that it does not take.
CompileError
    The source does not compile or has no such function.
SignatureError
    The signature does not fit, or is needed.
ToolchainError
    A compiler or Enzyme is missing.
CacheError
    The cache folder cannot be used.
PackError
    A pack is damaged, is for another machine or has no such function."""

Documented = TypeVar("Documented", bound=Callable[..., Any])


def document_options(enzyme: Documented) -> Documented:
    """Complete the docstring of a front end's ``enzyme``, which has a summary and what is returned.

    Parameters
    ----------
    enzyme
        The function.

    Returns
    -------
    callable
        The same, with the parameters and errors that all front ends share.
    """
    summary, _, returns = inspect.cleandoc(enzyme.__doc__ or "").partition("\n\n")
    enzyme.__doc__ = "\n\n".join((summary, _PARAMETERS, returns, _ERRORS))
    return enzyme


@dataclass(frozen=True)
class Framework:
    """What opening a function needs of a framework.

    Attributes
    ----------
    array_type : type
        Its array type.
    allocate : callable
        ``allocate(shape, dtype_name)`` makes an uninitialised contiguous array on the CPU; used where the type
        offers no DLPack exchange table.
    dtype : callable
        ``dtype(name)`` returns the element type of a name that all frameworks share, ``"float64"``.
    """

    array_type: type
    allocate: Callable[[tuple[int, ...], str], Any]
    dtype: Callable[[str], Any]


class Opened:
    """An opened function.

    Attributes
    ----------
    native : _native.Function
        The function.
    given : dict
        What it was opened with, ready for JSON: ``sources``, ``function``, ``signature``, ``options``.
    plan : Plan
        Its call plan.
    spec : str
        What names it in programs that are traced, exported or pickled: ``given`` as JSON, with the key, which sets it
        apart from the same function before its sources were edited.
    digests : list of str
        Of the sources' content.
    """

    def __init__(
        self, native: _native.Function, given: dict[str, Any], framework: Framework, choose: Chooser | None = None
    ) -> None:
        self.native, self.given = native, given
        self._framework, self._choose = framework, choose
        self.digests: list[str] = native.source_digests(given["sources"])
        self.plan = Plan(native, given["options"].get("sizes", {}), framework.dtype)
        self.spec = json.dumps({**given, "key": self.plan.key}, sort_keys=True)

    def is_stale(self) -> bool:
        """Return whether opening it again would give other code; opens it again to know."""
        try:
            return open_given(self._framework, self.given, self._choose).plan.key != self.plan.key
        except (CompileError, SignatureError):
            # What the source has become does not open at all.
            return True


class Operation:
    """What an operation of every front end has."""

    _framework: ClassVar[Framework]

    def __init__(self, opened: Opened, plan: Plan | None = None) -> None:
        self._opened, self._native, self._plan = opened, opened.native, plan or opened.plan
        plan = self._plan
        self.inputs: list[str] = list(plan.names)
        self.outputs: list[str] = list(plan.output_names)

    @property
    def signature(self) -> str:
        """The signature in use, defaults included."""
        return self._plan.signature

    @property
    def manifest(self) -> dict[str, Any]:
        """Prototype, call plan, tools and commands, as ``ffgrad show`` prints them."""
        manifest: dict[str, Any] = json.loads(self._native.manifest())
        return manifest

    def _in_order(self, inputs: tuple[Any, ...], named: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the inputs of a call, those that were given by the parameter's name at their places.

        Raises
        ------
        SignatureError
            A name is no input's, an input is given twice, or one is missing.
        """
        names, function = self.inputs, self._plan.function
        given = dict(zip(names, inputs, strict=False))
        wrong = [f"there is no input `{name}`" for name in named if name not in names]
        wrong += [f"`{name}` is given twice" for name in named if name in given]
        wrong += [f"`{name}` is missing" for name in names if name not in given and name not in named]
        if len(inputs) > len(names):
            wrong.append(f"{len(inputs)} are given without a name")
        if wrong:
            hint = f"Its inputs are: {', '.join(names)}."
            raise SignatureError(
                f"`{function}` takes {counted(len(names), 'input')}: {'; '.join(wrong)}\n  {hint}",
                code="arity",
                function=function,
                hints=[hint],
            )
        given.update(named)
        return tuple(given[name] for name in names)

    def path_checks(self) -> dict[str, float]:
        """Return how many calls were verified because values took them on a new path, how many were not, and the seconds spent."""
        checked, unchecked, seconds = self._native.path_checks()
        return {"checked": checked, "unchecked": unchecked, "seconds": seconds}

    def checkpointing(self) -> dict[str, float] | None:
        """Return what the last reverse sweep of a loop over steps, or of a checkpointed loop inside, did; ``None`` before the first one.

        Returns
        -------
        dict or None
            ``steps`` of the loop; ``snapshots`` that it could hold; ``on_disk``: of these, those in ``snapshot_dir``;
            ``disk_bytes``: the most that was there at once; ``forward``: steps run forward, beside those that a reversal
            runs itself; ``recomputed``: of these, those beyond one sweep; ``state_bytes``, ``peak_bytes`` held at once;
            ``seconds``.
        """
        last = self._native.checkpointing()
        counts = ("steps", "snapshots", "on_disk", "disk_bytes", "forward", "recomputed", "state_bytes", "peak_bytes")
        return last and {name: last[name] if name == "seconds" else int(last[name]) for name in (*counts, "seconds")}

    @property
    def is_stale(self) -> bool:
        """Whether the source, a header or a compiler has changed since: opening it again would give other code.

        An operation keeps the code that it was opened with; ``enzyme`` with the same arguments gives the new one.
        """
        return self._opened.is_stale()

    def __reduce__(self) -> tuple[Any, ...]:
        """Be pickled by what it was made from, and by the sources' content, which is compared where it is opened again."""
        return reopen, (type(self), self._opened.given, self._opened.digests)

    def __copy__(self) -> Self:
        """Return itself: an operation has no state."""
        return self

    def __deepcopy__(self, _: dict[int, Any]) -> Self:
        """Return itself: an operation has no state."""
        return self

    def __repr__(self) -> str:
        """Return the function and its signature."""
        return f"<enzyme {self._plan.function}: {self._plan.signature}>"


def reopen(kind: type[Operation], given: dict[str, Any], digests: list[str]) -> Operation:
    """Open the operation of a pickle; warn where its sources have other content by now."""
    operation = kind(open_given(kind._framework, given))
    pairs = zip(given["sources"], digests, operation._opened.digests, strict=True)
    if changed := [file for file, then, now in pairs if then != now]:
        warnings.warn(
            f"{', '.join(changed)} changed since `{given['function']}` was pickled", UserWarning, stacklevel=2
        )
    return operation


def open_operation(
    framework: Framework,
    source: Source | Iterable[Source],
    function: str,
    signature: str | None,
    options: Options,
    *,
    absolute: bool = True,
) -> Opened:
    """Open a foreign function for a framework.

    Parameters
    ----------
    framework
        Whose arrays it will be called on.
    source
        One source file or several.
    function
        Its name.
    signature
        Shapes and roles of the parameters, or ``None`` for the defaults.
    options
        See :class:`Options`.
    absolute
        Name sources and folders of headers by absolute path, for programs that outlive the working folder.

    Raises
    ------
    ArgumentError, ToolchainError, CompileError, SignatureError, CacheError
    """
    files = source_files(source)
    check_names(function, signature)
    if absolute:
        files = [os.path.abspath(file) for file in files]
        _arguments.absolute(options)  # type: ignore[arg-type]
    given = {"sources": files, "function": function, "signature": signature, "options": plain(options)}
    return open_given(framework, given, launch_chooser(options))


def open_given(framework: Framework, given: dict[str, Any], choose: Chooser | None = None) -> Opened:
    """Open a function again by :attr:`Opened.given`, as pickles and exported programs bring it."""
    arguments = (
        given["sources"],
        given["function"],
        given["signature"],
        json.dumps(given["options"]),
        framework.array_type,
        framework.allocate,
        choose,
    )
    try:
        native = _native.Function(*arguments)
    except ToolchainError as error:
        if not toolchain.offer(error):
            raise
        native = _native.Function(*arguments)
    return Opened(native, given, framework, choose)


def launch_chooser(options: Options) -> Chooser | None:
    """Return the launch as one callable, where any of its options is one.

    Returns
    -------
    callable or None
        Takes the dimensions by name, returns seven numbers: grid x, y, z, block x, y, z, bytes of shared memory.
    """
    given = {name: options.get(name) for name in LAUNCH}
    if not any(map(callable, given.values())):
        return None
    if odd := [name for name, value in given.items() if _has_expression(value)]:
        raise ArgumentError(
            f"options of enzyme(): `{odd[0]}` must be numbers or a callable where another one is a callable",
            argument=odd[0],
            code="argument",
        )

    def choose(dims: dict[str, int]) -> list[int]:
        def extents(name: str, default: int) -> list[int]:
            value = given[name]
            value = default if value is None else value(dims) if callable(value) else value
            numbers = [int(n) for n in value] if isinstance(value, Sequence) else [int(value)]  # type: ignore[arg-type]
            return [*numbers, 1, 1][:3]

        return [*extents("grid", 1), *extents("block", 256), extents("shared", 0)[0]]

    return choose


def _has_expression(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, Sequence) and any(isinstance(v, str) for v in value))
