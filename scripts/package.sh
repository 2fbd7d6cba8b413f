#!/usr/bin/env bash
# The Python package, in place: the extension module is built into py/python/ffgrad, which .venv sees. A change of a
# Python file needs no build.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
cd "$ROOT/py"

VIRTUAL_ENV=$ROOT/.venv "$PYTHON_BIN/maturin" develop --release --skip-install --quiet
