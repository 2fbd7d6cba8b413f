"""EnzymeModule, and operations that are pickled, copied, saved, and sent to workers and other ranks."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import ffgrad
import pytest
import torch
from ffgrad.torch import EnzymeModule, enzyme
from support.fixtures import RunPython, Write
from support.programs import CUBE, DECAY, DECAY_SIGNATURE
from torch.utils.data import DataLoader, Dataset


@pytest.fixture
def module(write: Write) -> EnzymeModule:
    """amplitude * exp(-rate * t), both trainable."""
    return EnzymeModule(
        write(DECAY), "decay", DECAY_SIGNATURE, parameters={"amplitude": 2.0, "rate": torch.tensor(0.5).double()}
    )


T = torch.linspace(0, 1, 5, dtype=torch.float64)


def test_parameters_are_trained(module: EnzymeModule) -> None:
    """An optimiser finds the curve that the data came from."""
    target = 1.3 * torch.exp(-1.7 * T)
    optimiser = torch.optim.LBFGS(module.parameters(), max_iter=60, line_search_fn="strong_wolfe")

    def closure() -> torch.Tensor:
        optimiser.zero_grad()
        loss = (module(T) - target).square().sum()
        loss.backward()  # type: ignore[no-untyped-call]
        return loss

    optimiser.step(closure)
    assert module.amplitude.item() == pytest.approx(1.3, abs=1e-4)
    assert module.rate.item() == pytest.approx(1.7, abs=1e-3)


def test_fixed_inputs_are_buffers_and_inputs_may_be_named(write: Write) -> None:
    """The state dict has both kinds."""
    module = EnzymeModule(write(DECAY), "decay", DECAY_SIGNATURE, parameters={"rate": 0.5}, buffers={"t": T})
    assert set(module.state_dict()) == {"rate", "t"} and not module.t.requires_grad
    torch.testing.assert_close(module(amplitude=2.0), 2 * torch.exp(-0.5 * T))
    assert "decay" in repr(module)


def test_names_that_are_no_inputs_are_refused(write: Write, module: EnzymeModule) -> None:
    """With those that are."""
    with pytest.raises(ValueError, match=r"no input that can have a gradient `t`\n  These are: `amplitude`, `rate`"):
        EnzymeModule(write(DECAY), "decay", DECAY_SIGNATURE, parameters={"t": T})
    with pytest.raises(ValueError, match=r"no further input `w`"):
        EnzymeModule(write(DECAY), "decay", DECAY_SIGNATURE, buffers={"w": T})
    # An option of CUDA kernels, not of modules.
    with pytest.raises(ffgrad.CompileError, match=r"`constants`.*CUDA kernels[^`]*\n[^`]*`buffers`"):
        EnzymeModule(write(DECAY), "decay", DECAY_SIGNATURE, constants={"t": T.tolist()})
    with pytest.raises(TypeError, match="takes `t`, each once"):
        module(T, t=T)
    with pytest.raises(TypeError, match="takes `t`, each once"):
        module()


def test_copies_and_pickles_compute_the_same(module: EnzymeModule, tmp_path: Path) -> None:
    """Deep copies have parameters of their own; torch.save keeps them."""
    with torch.no_grad():
        module.rate.fill_(0.9)
    expected = module(T)
    torch.save(module, tmp_path / "module.pt")
    loaded = torch.load(tmp_path / "module.pt", weights_only=False)
    for other in (copy.deepcopy(module), pickle.loads(pickle.dumps(module)), loaded):
        assert torch.equal(other(T), expected)
        assert other.rate.data_ptr() != module.rate.data_ptr()
    fresh = copy.deepcopy(module)
    fresh.load_state_dict({"amplitude": torch.tensor(1.0), "rate": torch.tensor(0.0)})
    torch.testing.assert_close(fresh(T), torch.ones_like(T))


def test_a_source_that_changed_since_the_pickle_is_reported(write: Write) -> None:
    """It is opened as it is now."""
    pickled = pickle.dumps(enzyme(write(CUBE), "cube"))
    write(CUBE.replace("x[i] * x[i] * x[i]", "x[i] * x[i]"))
    with pytest.warns(UserWarning, match="changed since `cube` was pickled"):
        square = pickle.loads(pickled)
    assert square(2 * torch.ones(2).double()).tolist() == [4.0, 4.0]


class Samples(Dataset):  # type: ignore[type-arg]
    """Calls the operation where a sample is made, which is in a worker."""

    def __init__(self, module: EnzymeModule) -> None:
        self.module = module

    def __len__(self) -> int:
        return 6

    def __getitem__(self, i: int) -> torch.Tensor:
        t = torch.full((3,), float(i), dtype=torch.float64, requires_grad=True)
        with torch.enable_grad():
            return torch.autograd.grad(self.module.operation(t, 2.0, self.module.rate).sum(), self.module.rate)[0]


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_workers_of_a_data_loader_call_and_differentiate(module: EnzymeModule, start: str) -> None:
    """Forked workers inherit the operation, spawned ones open it from the cache."""
    module(T).sum().backward()
    loader = DataLoader(Samples(module), batch_size=2, num_workers=2, multiprocessing_context=start)
    got = torch.cat([batch for batch in loader])
    i = torch.arange(6, dtype=torch.float64)
    torch.testing.assert_close(got, -3 * i * 2.0 * torch.exp(-0.5 * i))


RANK = """
import os, sys, torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from ffgrad.torch import EnzymeModule
rank = int(sys.argv[1]) if len(sys.argv) > 1 else int(os.environ["RANK"])

def main(rank):
    dist.init_process_group("gloo", init_method="file://" + {store!r}, rank=rank, world_size=2)
    module = EnzymeModule({source!r}, "decay", {signature!r}, parameters={{"amplitude": 2.0, "rate": 0.5}})
    model = DistributedDataParallel(module)
    t = torch.linspace(rank, rank + 1, 5, dtype=torch.float64)
    model(t).sum().backward()
    print(module.amplitude.grad.item(), module.rate.grad.item())
    dist.destroy_process_group()

main(rank)
"""


def test_two_ranks_average_their_gradients(write: Write, tmp_path: Path) -> None:
    """DistributedDataParallel over gloo."""
    from support.fixtures import start_python

    code = RANK.format(store=str(tmp_path / "store"), source=str(write(DECAY)), signature=DECAY_SIGNATURE)
    ranks = [start_python(code, {"RANK": str(rank)}, tmp_path) for rank in range(2)]
    answers = [rank.finish().stdout.split() for rank in ranks]
    t = torch.stack([torch.linspace(r, r + 1, 5, dtype=torch.float64) for r in range(2)])
    curve = torch.exp(-0.5 * t)
    expected = [curve.sum(1).mean().item(), (-2 * t * curve).sum(1).mean().item()]
    for answer in answers:
        assert [float(value) for value in answer] == pytest.approx(expected, rel=1e-12)


def test_a_module_is_compiled_whole(module: EnzymeModule) -> None:
    """Parameters, graph and gradient."""
    compiled = torch.compile(module, fullgraph=True, backend="aot_eager")
    compiled(T).sum().backward()
    gradient = module.rate.grad.clone()
    module.zero_grad()
    module(T).sum().backward()
    torch.testing.assert_close(gradient, module.rate.grad)


def test_a_pickle_is_opened_in_another_process(write: Write, tmp_path: Path, run_python: RunPython) -> None:
    """By path."""
    (tmp_path / "cube.pkl").write_bytes(pickle.dumps(enzyme(write(CUBE), "cube")))
    child = run_python("""
import pickle, torch
cube = pickle.load(open("cube.pkl", "rb"))
x = torch.tensor([2.0], dtype=torch.float64, requires_grad=True)
cube(x).sum().backward()
print(x.grad.item())
""")
    assert child.stdout.strip() == "12.0"
