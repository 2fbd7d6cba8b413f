"""Fixtures of the NumPy front end. PyTorch is the other side of some comparisons."""

from support.torch_fixtures import compile_source, cube, decay, pair, torch_seed  # noqa: F401  (pytest finds them here)
