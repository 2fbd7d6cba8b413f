"""torch.compile and torch.export on foreign functions: whole graphs, dynamic shapes, right derivatives, exported programs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ffgrad
import pytest
import torch
import torch._dynamo.testing
from ffgrad.errors import ForeignError
from ffgrad.torch import Enzyme
from support.fixtures import Compile, RunPython, Write
from support.programs import CUBE, THROWS
from test_transforms import COMPOSITIONS, MAPPED, written
from torch.export import Dim


@pytest.fixture(autouse=True)
def _fresh() -> None:
    torch._dynamo.reset()


def whole(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """Compile without permission to break the graph."""
    options.setdefault("backend", "aot_eager")
    return torch.compile(function, fullgraph=True, **options)


def vectors(*shape: int) -> list[torch.Tensor]:
    """Two random arrays that require gradients."""
    return [torch.randn(*shape, dtype=torch.float64, requires_grad=True) for _ in range(2)]


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_forward_and_backward_are_one_graph(pair: Enzyme, backend: str) -> None:
    """Between other operations, both compiled."""

    def step(f: Callable[..., Any], a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        first, second = f(a.sin(), b * 2)
        return (first * second).sum()

    a, b = vectors(4)
    compiled = whole(lambda a, b: step(pair, a, b), backend=backend)
    got, want = compiled(a, b), step(written, a, b)
    torch.testing.assert_close(got, want)
    torch.testing.assert_close(torch.autograd.grad(got, (a, b)), torch.autograd.grad(want, (a, b)))


def test_nothing_stands_between_the_graph_and_the_operators(pair: Enzyme) -> None:
    """The graphs call the operators and know their shapes."""
    graphs: list[Any] = []

    def keep(graph: Any, _: Any) -> Any:
        graphs.append(graph)
        return graph.forward

    from functorch.compile import make_boxed_func
    from torch._dynamo.backends.common import aot_autograd

    backend = aot_autograd(fw_compiler=lambda g, _: make_boxed_func(keep(g, _)))
    a, b = vectors(4)
    whole(lambda a, b: pair(a, b)[1].sum(), backend=backend)(a, b).backward()
    called = [str(node.target) for graph in graphs for node in graph.graph.nodes if node.op == "call_function"]
    assert called.count("ffgrad.primal.default") == 1 and called.count("ffgrad.vjp.default") == 1


def test_shapes_stay_symbols(pair: Enzyme) -> None:
    """One compilation serves every length."""
    counter = torch._dynamo.testing.CompileCounterWithBackend("aot_eager")
    compiled = torch.compile(lambda a, b: pair(a, b)[0].sum(), fullgraph=True, dynamic=True, backend=counter)
    for n in (4, 7, 19):
        a, b = vectors(n)
        compiled(a, b).backward()
        torch.testing.assert_close(a.grad, b.detach())
    assert counter.frame_count == 1


def test_shapes_of_expressions_are_computed_on_symbols(compile_source: Compile) -> None:
    """Outputs of n - 1, 2 * n + 1 and n // 2 elements."""
    source = """
    void f(const double* x, int n, double* d, double* w, double* h) {
      for (int i = 0; i < n - 1; i++) d[i] = x[i + 1] - x[i];
      for (int i = 0; i < 2 * n + 1; i++) w[i] = x[i % n];
      for (int i = 0; i < n / 2; i++) h[i] = x[2 * i];
    }"""
    f = compile_source(source, "f", "x[n] -> d[n-1], w[2*n+1], h[n//2]")
    compiled = whole(f.apply, dynamic=True)
    for n in (5, 8):
        x = torch.randn(n, dtype=torch.float64)
        torch.testing.assert_close(compiled(x), f(x))


def test_a_wrong_shape_is_reported_while_the_graph_is_made(pair: Enzyme) -> None:
    """By the shape rule, in the words of the eager error's kind."""
    a = torch.randn(4, dtype=torch.float64)
    with pytest.raises(Exception, match="`n`, of `b` of `pair` is 3, expected 4"):
        whole(pair.apply)(a, a[:3])
    with pytest.raises(Exception, match="expected float64, found float32"):
        whole(pair.apply)(a.float(), a)


def test_numbers_are_constants_of_the_graph(decay: Enzyme) -> None:
    """Floats and ints for scalars."""
    t = torch.linspace(0, 1, 4, dtype=torch.float64)
    rate = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
    compiled = whole(lambda t, r: decay(t, 2, r))
    torch.testing.assert_close(compiled(t, rate), decay(t, 2.0, rate))


def test_second_derivatives_are_compiled_with_the_forward(pair: Enzyme) -> None:
    """A gradient inside of the compiled function, differentiated outside of it."""
    a, b = vectors(4)

    def penalty(f: Callable[..., Any], a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.func.grad(lambda a: (f(a, b)[1] * b).sum())(a).square().sum()

    got = torch.autograd.grad(whole(lambda a, b: penalty(pair, a, b))(a, b), (a, b))
    torch.testing.assert_close(got, torch.autograd.grad(penalty(written, a, b), (a, b)))


# One of each kind: each takes seconds to compile.
COMPILED = [
    "grad",
    "jvp",
    "jacrev",
    "hessian",
    "jvp of grad",
    "vmap with a shared input",
    "vmap of grad",
    "grad of vmap",
]


@pytest.mark.parametrize("name", COMPILED)
def test_a_transform_inside_of_a_compiled_function_is_honest(pair: Enzyme, name: str) -> None:
    """The jvp above all, which torch.compile drops where an autograd.Function brings its own."""
    a, b = torch.randn(2, *((3, 4) if name in MAPPED else (4,)), dtype=torch.float64)
    compose = {**COMPOSITIONS, **MAPPED}[name]
    torch.testing.assert_close(whole(compose(pair))(a, b), compose(written)(a, b))


@pytest.mark.parametrize("name", ["vmap of hessian", "vmap of vmap", "jacrev of jacfwd", "hessian of vmap"])
def test_a_nest_of_transforms_is_right_or_beyond_torchs_tracer(pair: Enzyme, name: str) -> None:
    """Nests of transforms that torch cannot trace for its own operations either."""
    a, b = torch.randn(2, *((3, 4) if name in MAPPED else (4,)), dtype=torch.float64)
    compose = {**COMPOSITIONS, **MAPPED}[name]
    try:
        got = whole(compose(pair))(a, b)
    except torch._dynamo.exc.TorchDynamoException:
        with pytest.raises(torch._dynamo.exc.TorchDynamoException):
            whole(compose(written))(a, b)
    else:
        torch.testing.assert_close(got, compose(written)(a, b))


def test_forward_mode_in_forward_mode_is_compiled_or_beyond_torchs_tracer(write: Write, run_python: RunPython) -> None:
    """In a process of its own, because torch leaves a level of forward mode open where it fails."""
    child = run_python(f"""
import torch
import torch._dynamo.testing
from ffgrad.torch import enzyme
from torch.func import jacfwd, jvp
cube = enzyme({str(write(CUBE))!r}, "cube")
x, v = torch.arange(1.0, 4).double(), torch.ones(3).double()
compiled = torch.compile(jacfwd(jacfwd(cube)), fullgraph=True, backend="aot_eager")
torch.testing.assert_close(compiled(x), jacfwd(jacfwd(lambda x: x**3))(x))

def twice(f):
    return torch.compile(
        lambda x: jvp(lambda x: jvp(f, (x,), (v,))[1], (x,), (v,))[1], fullgraph=True, backend="aot_eager"
    )

try:
    got = twice(cube)(x)
except torch._dynamo.exc.TorchDynamoException as error:
    print(type(error).__name__)
else:
    torch.testing.assert_close(got, 6 * x)
""")
    assert child.returncode == 0


def test_forward_mode_around_a_compiled_function_is_honest_or_refused(pair: Enzyme) -> None:
    """Never a tangent that is missing."""
    a, b = torch.randn(2, 4, dtype=torch.float64)
    compiled = whole(lambda a, b: pair(a, b)[1])
    try:
        got = torch.func.jvp(compiled, (a, b), (b, a))[1]
    except Exception as error:
        assert "jvp" in str(error) or "forward" in str(error).lower()
    else:
        torch.testing.assert_close(got, 2 * a * b + torch.cos(b) * a)


def test_an_exception_of_the_foreign_code_leaves_a_compiled_graph(compile_source: Compile) -> None:
    """With its type."""
    f = compile_source(THROWS, "positive", name="f.cpp")
    x = torch.full((3,), -1.0, dtype=torch.float64)
    with pytest.raises(ForeignError, match="negative"):
        whole(f.apply)(x)


class Model(torch.nn.Module):
    """A foreign function between two of torch's."""

    def __init__(self, f: Enzyme) -> None:
        super().__init__()
        self.f = f

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """Return a vector."""
        return self.f(a.sin(), b)[1] + 1  # type: ignore[no-any-return]


def test_an_exported_program_has_symbolic_shapes(pair: Enzyme) -> None:
    """And computes the same."""
    a, b = (x.detach() for x in vectors(4))
    n = Dim("n", min=2)
    program = torch.export.export(Model(pair), (a, b), dynamic_shapes={"a": {0: n}, "b": {0: n}})
    a, b = (x.detach() for x in vectors(9))
    torch.testing.assert_close(program.module()(a, b), Model(pair)(a, b))


def test_an_exported_program_runs_in_another_process(pair: Enzyme, tmp_path: Path, run_python: RunPython) -> None:
    """It names the sources by path; importing ffgrad.torch is all that it needs."""
    a, b = (x.detach() for x in vectors(4))
    torch.export.save(torch.export.export(Model(pair), (a, b)), tmp_path / "model.pt2")
    child = run_python("""
import torch, ffgrad.torch
model = torch.export.load("model.pt2").module()
a, b = torch.full((2, 4), 0.5, dtype=torch.float64)
a.requires_grad_()
y = model(a, b)
y.sum().backward()
print(y[0].item(), a.grad[0].item())
""")
    s, c = torch.sin(torch.tensor(0.5).double()), torch.cos(torch.tensor(0.5).double())
    value, slope = (float(v) for v in child.stdout.split())
    assert value == pytest.approx((s * s + s + 1).item()) and slope == pytest.approx((2 * s * c).item())


def test_vmap_over_a_backward_of_eager_calls(compile_source: Compile) -> None:
    """Rows of a Jacobian by torch.func.vmap over torch.autograd.grad."""
    cube = compile_source(CUBE, "cube")
    x = torch.randn(3, dtype=torch.float64, requires_grad=True)
    y = cube(x)
    rows = torch.func.vmap(lambda v: torch.autograd.grad(y, x, v, retain_graph=True)[0])(torch.eye(3).double())
    torch.testing.assert_close(rows, torch.diag(3 * x.detach() ** 2))


def test_the_operators_serve_a_process_without_the_package(pair: Enzyme, run_python: RunPython) -> None:
    """libffgrad_torch.so alone, as a program without Python loads it."""
    library = Path(ffgrad.__file__).with_name("bin") / "libffgrad_torch.so"
    child = run_python(f"""
import sys, torch
torch.ops.load_library({str(library)!r})
a, b = torch.full((2, 3), 0.5, dtype=torch.float64)
product, mixed = torch.ops.ffgrad.primal([a, b], {pair._spec!r}, 0, 0)
gradient, = torch.ops.ffgrad.vjp([a, b], [torch.ones_like(a)], {pair._spec!r}, 0, 1, 1)
print(product[0].item(), gradient[0].item(), "ffgrad" in sys.modules)
try:
    torch.ops.ffgrad.primal([a, b[:2]], {pair._spec!r}, 0, 0)
except RuntimeError as error:
    print(str(error).splitlines()[0])
""")
    first, second = child.stdout.strip().splitlines()
    assert first == "0.25 0.5 False" and "`n` is 3" in second
