"""Fixtures of tests that cross front ends; most of these tests call ffgrad through PyTorch."""

from support.goldens import golden  # noqa: F401  (pytest finds them here)
from support.torch_fixtures import compile_source, cube, decay, pair, torch_seed  # noqa: F401
