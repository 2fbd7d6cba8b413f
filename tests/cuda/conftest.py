"""Fixtures of the tests of CUDA kernels."""

from support.torch_fixtures import compile_source, cube, decay, pair, torch_seed  # noqa: F401  (pytest finds them here)
