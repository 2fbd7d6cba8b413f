"""Functions of containers, structures and rows in PyTorch: adapters go through every derivative that pointers go through."""

from __future__ import annotations

import torch
from ffgrad.torch import enzyme
from support.loader import FOLDER

SOURCES = FOLDER / "adapters"


def normal(*shape: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randn(*shape, dtype=torch.float64, generator=generator).requires_grad_()


def test_second_derivatives_of_a_result_in_a_container() -> None:
    op = enzyme(SOURCES / "containers.cpp", "matvec", "a[m,n], x[n] -> return[m]")
    assert torch.autograd.gradgradcheck(op.apply, (normal(2, 3), normal(3)))


def test_transforms_of_a_container() -> None:
    op = enzyme(SOURCES / "containers.cpp", "sum_of_squares<double>")
    x = normal(3).detach()
    torch.testing.assert_close(torch.func.hessian(op.apply)(x), 2 * torch.eye(3, dtype=torch.float64))
    batch = normal(4, 3).detach()
    torch.testing.assert_close(torch.vmap(torch.func.grad(op.apply))(batch), 2 * batch)


def test_a_batch_of_matrices_by_rows() -> None:
    op = enzyme(SOURCES / "rows.c", "energy", "a[...,m,n] -> return[...]")
    assert torch.autograd.gradcheck(op.apply, (normal(3, 2, 2),))


def test_a_tape_through_an_adapter() -> None:
    op = enzyme(SOURCES / "containers.cpp", "sines", "x[n] -> y[n]", mode="tape")
    x = normal(4)
    op.apply(x).sum().backward()
    torch.testing.assert_close(x.grad, x.detach().cos())


def test_second_derivatives_of_a_structure_that_is_updated() -> None:
    signature = "s.position[s.n], s.moments[2], dt -> s.position[s.n], s.energy, s.moments[2]"
    op = enzyme(SOURCES / "structures.cpp", "model::advance", signature)
    moments = torch.ones(2, dtype=torch.float64)

    def total(x: torch.Tensor) -> torch.Tensor:
        return torch.stack([part.sum() for part in op.apply(x, moments, 0.1)]).sum()

    assert torch.autograd.gradgradcheck(total, (normal(3),))
