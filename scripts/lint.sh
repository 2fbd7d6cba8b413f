#!/usr/bin/env bash
# Checks style and types. Changes nothing; `make fmt` fixes the layout.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
cd "$ROOT"
with_llvm

for script in scripts/*.sh .ci/run; do bash -n "$script"; done
cargo fmt --all --check
cargo clippy --workspace --all-targets --quiet -- -D warnings
"$PYTHON_BIN/ruff" check --quiet .
"$PYTHON_BIN/ruff" format --quiet --check .
"$PYTHON_BIN/mypy"
say "lint: passed in $SECONDS s"
