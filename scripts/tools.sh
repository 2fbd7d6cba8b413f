#!/usr/bin/env bash
# The programs: the `ffgrad` command, the tools it drives (those the machine lacks), and the worker.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
cd "$ROOT"

need cargo "rustup, with Rust 1.89 or later"
need cc gcc

cargo build --release --package compile-driver
# Says nothing where nothing is missing.
"$BIN/ffgrad" toolchain install >/dev/null
with_llvm
cargo build --release --package ffgrad-llvm
replace "$BIN/ffgrad-llvm" "$PACKAGE/bin/ffgrad-llvm"
