"""The parts of :mod:`ffgrad.torch`: the operators, and their rules for autograd, ``vmap`` and tracing.

``library`` loads the operators, ``plans`` knows the functions behind them, ``shapes`` computes the shapes of results without data,
``formulas`` differentiates, ``batching`` maps, ``module`` wraps. Importing this registers everything.
"""

from ffgrad._torch import batching, formulas, shapes

__all__ = ["batching", "formulas", "shapes"]
