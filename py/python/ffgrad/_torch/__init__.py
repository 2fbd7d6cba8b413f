"""PyTorch: the operators and what joins them into derivatives.

``library`` loads the operators, ``plans`` knows the functions behind them, ``shapes`` says what comes out without data,
``formulas`` differentiates, ``batching`` maps, ``module`` wraps. Importing this registers everything.
"""

from ffgrad._torch import batching, formulas, shapes

__all__ = ["batching", "formulas", "shapes"]
