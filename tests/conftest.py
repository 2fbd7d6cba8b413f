"""Fixtures for the tests of every front end; each is described in ``support/fixtures.py``."""

from support.fixtures import (  # noqa: F401  (pytest finds them here)
    cache,
    numpy_seed,
    pytest_configure,
    pytest_unconfigure,
    run_python,
    write,
)
