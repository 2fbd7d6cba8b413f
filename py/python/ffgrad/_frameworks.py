"""What is said where the framework of a front end is not installed."""

from __future__ import annotations

# The front end of each framework.
_FRONT_ENDS = {"torch": "torch", "jax": "jax", "tensorflow": "tf"}


def missing(error: ModuleNotFoundError) -> ModuleNotFoundError:
    """Return the error to raise where a front end's import failed: one that says what to install, if the framework is what is missing."""
    name = error.name or ""
    if name not in _FRONT_ENDS:
        return error
    return ModuleNotFoundError(
        f"ffgrad.{_FRONT_ENDS[name]} needs the package {name}, which is not installed in this Python\n"
        f"  `pip install {name}`, or use ffgrad.numpy, which needs NumPy alone.",
        name=name,
    )
