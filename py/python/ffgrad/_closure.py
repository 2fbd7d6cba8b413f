"""Which operation differentiates which: the table that PyTorch, TensorFlow and JAX register their rules from.

With x the inputs, v cotangents of the outputs, t tangents and s directions of the inputs, the operations are ``primal`` f(x),
``vjp`` J(x)^T v, ``jvp`` J(x) t, ``hvp`` d(J^T v)/dx t and ``jvp2`` d(J t)/dx s. They are closed under differentiation up to
second order in x; beyond it a derivative is refused, never a zero by mistake.

=============  =======================================  =======================================
argument of    forward mode, along a tangent ``new``    reverse mode, from a cotangent ``new``
=============  =======================================  =======================================
primal: x      jvp(x; new)                              vjp(x; new)
vjp: x         hvp(x; v, new)                           hvp(x; v, new)
vjp: v         vjp(x; new)                              jvp(x; new)
jvp: x         jvp2(x; t, new)                          hvp(x; new, t)
jvp: t         jvp(x; new)                              vjp(x; new)
hvp: x         refused                                  refused
hvp: v         hvp(x; new, t)                           jvp2(x; t, new)
hvp: t         hvp(x; v, new)                           hvp(x; v, new), for it is symmetric
jvp2: x        refused                                  refused
jvp2: t        jvp2(x; new, s)                          hvp(x; new, s)
jvp2: s        jvp2(x; t, new)                          hvp(x; new, t)
=============  =======================================  =======================================
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

NEW = "new"
"""The tangent or cotangent that arrives, in the place of an argument."""

ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "primal": (),
    "vjp": ("cotangents",),
    "jvp": ("tangents",),
    "hvp": ("cotangents", "tangents"),
    "jvp2": ("tangents", "directions"),
}
"""The arguments of each operation after the inputs, in order; it is linear in each."""

GRADIENTS = frozenset({"vjp", "hvp"})
"""The operations whose results belong to inputs; those of the others belong to outputs."""


class Rule(NamedTuple):
    """The call that computes a derivative.

    Attributes
    ----------
    operation : str
        What is called, on the same inputs.
    arguments : tuple of str
        For each of its arguments, the argument of the differentiated call that is passed on, or :data:`NEW`.
    """

    operation: str
    arguments: tuple[str, ...]


Table = Mapping[str, Mapping[str, Rule | None]]

FORWARD: Table = {
    "primal": {"inputs": Rule("jvp", (NEW,))},
    "vjp": {"inputs": Rule("hvp", ("cotangents", NEW)), "cotangents": Rule("vjp", (NEW,))},
    "jvp": {"inputs": Rule("jvp2", ("tangents", NEW)), "tangents": Rule("jvp", (NEW,))},
    "hvp": {
        "inputs": None,
        "cotangents": Rule("hvp", (NEW, "tangents")),
        "tangents": Rule("hvp", ("cotangents", NEW)),
    },
    "jvp2": {
        "inputs": None,
        "tangents": Rule("jvp2", (NEW, "directions")),
        "directions": Rule("jvp2", ("tangents", NEW)),
    },
}
"""How results change along a tangent of an argument; ``None`` is refused."""

REVERSE: Table = {
    "primal": {"inputs": Rule("vjp", (NEW,))},
    "vjp": {"inputs": Rule("hvp", ("cotangents", NEW)), "cotangents": Rule("jvp", (NEW,))},
    "jvp": {"inputs": Rule("hvp", (NEW, "tangents")), "tangents": Rule("vjp", (NEW,))},
    "hvp": {
        "inputs": None,
        "cotangents": Rule("jvp2", ("tangents", NEW)),
        "tangents": Rule("hvp", ("cotangents", NEW)),
    },
    "jvp2": {
        "inputs": None,
        "tangents": Rule("hvp", (NEW, "directions")),
        "directions": Rule("hvp", (NEW, "tangents")),
    },
}
"""The cotangent of an argument, from cotangents of the results; ``None`` is refused."""


def rule(table: Table, operation: str, argument: str, has: Collection[str] = ARGUMENTS) -> Rule | None:
    """Return how an operation is differentiated in one of its arguments.

    Parameters
    ----------
    table
        :data:`FORWARD` or :data:`REVERSE`.
    operation, argument
        What is differentiated.
    has
        The operations that a front end calls for such derivatives.

    Returns
    -------
    Rule or None
        ``None`` where the derivative is refused: of third order, or by an operation that the front end has not.
    """
    found = table[operation][argument]
    return found if found is not None and found.operation in has else None
