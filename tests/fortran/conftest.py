"""The fixtures of the PyTorch tests, for what is about Fortran alone; the programs are in ``../cases/fortran``."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

_SHARED = Path(__file__).resolve().parents[1] / "python" / "conftest.py"
_spec = importlib.util.spec_from_file_location("shared_conftest", _SHARED)
assert _spec is not None and _spec.loader is not None
_module = importlib.util.module_from_spec(_spec)
sys.modules["shared_conftest"] = _module
_spec.loader.exec_module(_module)

_seeds = _module._seeds
write = _module.write
compile_source = _module.compile_source
