"""Verification of derivatives on a GPU, at the first arguments of each kind of call.

As on the CPU (``compile-driver/src/verify/mod.rs``), for random v, t and w:

- first derivatives: <v, J t> = <J^T v, t>, the forward against the reverse mode; coarsely, <v, J t> against central differences;
- second ones: <w, H t> = <t, H w>, where H is the derivative of J^T v, and coarsely <w, H t> against differences of J^T v;
- of the forward mode: <v, d(J t)> = <t, H d>, against the second derivatives of the reverse mode.

There is no other pipeline: what fails is refused. Nothing can be checked while a CUDA graph is captured, since a check waits.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any, Protocol

from ffgrad._gpu import Description
from ffgrad.errors import DifferentiationError, GradientWarning

Arrays = Sequence[Any]


class Probe(Protocol):
    """One call's derivatives and the arithmetic on its arrays; ``None`` stands for zeros and for integers."""

    def primal(self, inputs: Arrays) -> Arrays:
        """Return the outputs."""

    def jvp(self, inputs: Arrays, tangents: Arrays) -> Arrays:
        """Return J t, one array an output."""

    def vjp(self, inputs: Arrays, cotangents: Arrays) -> Arrays:
        """Return J^T v, one array an input."""

    def hvp(self, inputs: Arrays, cotangents: Arrays, tangents: Arrays) -> Arrays:
        """Return the change of J^T v along the tangents."""

    def jvp2(self, inputs: Arrays, tangents: Arrays, directions: Arrays) -> Arrays:
        """Return the change of J t along the directions."""

    def random(self, like: Arrays) -> Arrays:
        """Return arrays of the same shapes with normal random numbers."""

    def moved(self, inputs: Arrays, along: Arrays, step: float) -> Arrays:
        """Return inputs + step * along."""

    def dot(self, a: Arrays, b: Arrays) -> tuple[float, float]:
        """Return the inner product and the sum of the absolute values of its terms."""


class Check:
    """The checks of one kernel, remembered.

    Parameters
    ----------
    kernel
        Whose derivatives they are.
    verify
        The option: ``"once"``, ``"always"``, ``"strict"`` or ``"off"``.
    """

    def __init__(self, kernel: Description, verify: str) -> None:
        self.kernel = kernel
        self.verify = verify
        self.proven: set[Any] = set()

    def needed(self, key: Any) -> bool:
        """Whether derivatives of this kind are still to be verified."""
        return self.verify != "off" and (key not in self.proven or self.verify == "always")

    def first(self, key: Any, probe: Probe, inputs: Arrays, wanted: Arrays, single: bool) -> None:
        """Check first derivatives; ``wanted`` has the inputs with a derivative, ``None`` elsewhere.

        Raises
        ------
        DifferentiationError
            They are wrong, or cannot be verified.
        """
        tangents = probe.random(wanted)
        forward = probe.jvp(inputs, tangents)
        cotangents = probe.random(forward)
        reverse = probe.vjp(inputs, cotangents)
        left, right = probe.dot(cotangents, forward), probe.dot(tangents, reverse)
        self._agree(left, right, ("<v, J t>", "<J^T v, t>"), "forward and reverse mode disagree", single, 1.0)

        def along(step: float) -> tuple[float, float]:
            return probe.dot(cotangents, probe.primal(probe.moved(inputs, tangents, step)))

        self._settle(key, along, left[0], max(left[1], right[1]), single)

    def second(
        self, key: Any, probe: Probe, inputs: Arrays, wanted: Arrays, cotangents: Arrays, single: bool
    ) -> Arrays:
        """Check second derivatives of the reverse mode, and return the random cotangents that were used."""
        tangents, others = probe.random(wanted), probe.random(wanted)
        cotangents = probe.random(cotangents)
        forward = probe.hvp(inputs, cotangents, tangents)
        reverse = probe.hvp(inputs, cotangents, others)
        left, right = probe.dot(others, forward), probe.dot(tangents, reverse)
        self._agree(left, right, ("<w, H t>", "<t, H w>"), "the second derivative is not symmetric", single, 10.0)

        def along(step: float) -> tuple[float, float]:
            return probe.dot(others, probe.vjp(probe.moved(inputs, tangents, step), cotangents))

        self._settle(key, along, left[0], max(left[1], right[1]), single)
        return cotangents

    def forward_twice(
        self, key: Any, probe: Probe, inputs: Arrays, wanted: Arrays, cotangents: Arrays, single: bool
    ) -> None:
        """Check second derivatives of the forward mode against those of the reverse mode, which were checked before."""
        tangents, directions = probe.random(wanted), probe.random(wanted)
        cotangents = probe.random(cotangents)
        forward = probe.jvp2(inputs, tangents, directions)
        reverse = probe.hvp(inputs, cotangents, directions)
        left, right = probe.dot(cotangents, forward), probe.dot(tangents, reverse)
        self._agree(left, right, ("<v, d(J t)>", "<t, H d>"), "its second derivatives disagree", single, 10.0)
        if max(left[1], right[1]) > 0:
            self.proven.add(key)

    def _agree(
        self,
        left: tuple[float, float],
        right: tuple[float, float],
        names: tuple[str, str],
        what: str,
        single: bool,
        coarser: float,
    ) -> None:
        kernel, scale = self.kernel, max(left[1], right[1])
        if not math.isfinite(scale + left[0] + right[0]):
            raise DifferentiationError(
                f"the gradient of `{kernel.function}` cannot be proven at these arguments: it is not finite"
                f"{kernel.where()}\n  Call it first at arguments where it is.",
                **kernel.details("unproven-gradient"),
            )
        if abs(left[0] - right[0]) <= (1e-3 if single else 1e-8) * coarser * scale:
            return
        raise DifferentiationError(
            f"the gradient of `{kernel.function}` on the GPU is wrong: {what}{kernel.where()}\n"
            f"  expected {names[0]} = {left[0]:.15g}\n  found    {names[1]} = {right[0]:.15g}\n"
            "  The kernel may have a race: try it on CPU tensors, where threads run one after another.",
            **kernel.details("wrong-gradient", expected=f"{left[0]:.15g}", found=f"{right[0]:.15g}"),
        )

    def _settle(self, key: Any, along: Any, found: float, scale: float, single: bool) -> None:
        """Compare with central differences of several steps; one that agrees is enough, a kink needs none."""
        steps, tolerance = ((1e-2, 3e-3, 3e-2), 5e-2) if single else ((1e-5, 1e-6, 1e-4), 1e-3)
        kernel, estimates = self.kernel, []
        for h in steps:
            difference = (along(h)[0] - along(-h)[0]) / (2 * h)
            if abs(difference - found) <= tolerance * max(scale, abs(difference)):
                # A derivative of zero is inconclusive for other arguments.
                if scale > 0:
                    self.proven.add(key)
                return
            estimates.append(difference)
        text = (
            f"the gradient of `{kernel.function}` on the GPU is doubtful at these arguments: two formulas for it agree "
            f"({found:.6e}), finite differences give {estimates[0]:.6e}. A kink, chaos or coarse precision can be the reason."
        )
        if self.verify == "strict" or scale == 0:
            raise DifferentiationError(text + kernel.where(), **kernel.details("unproven-gradient"))
        warnings.warn(text, GradientWarning, stacklevel=2)
