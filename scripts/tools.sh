#!/usr/bin/env bash
# tools.sh [numpy]: everything that cargo builds: the `ffgrad` command, which fetches the tools that the machine lacks, then what
# needs them: the worker. Then the native half of the Python package. All go into py/python/ffgrad, which .venv sees; a
# change of a Python file needs no build. With `numpy` what the other frameworks and languages need is left out, as is
# optimisation.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
cd "$ROOT"

need cargo "rustup, with Rust 1.89 or later"
need cc gcc

profile=release
# For a first look the compiler need not optimise. What was built for more than that serves too.
if [ "${1:-}" = numpy ] && ! [ -x "$BIN/ffgrad-llvm" ]; then
    profile=quick
    BIN=$CARGO_TARGET_DIR/$profile
fi
build() { cargo build --profile "$profile" "${quiet[@]}" "$@"; }
quiet=()
# Reports nothing unless something is compiled, which takes long enough to be reported.
[ -t 2 ] || quiet=(--quiet)

libraries=(--package ffgrad-py --package ffgrad-tf --package ffgrad-torch --package ffgrad-capi)
[ "${1:-}" != numpy ] || libraries=(--package ffgrad-py)

if ! [ -x "$BIN/ffgrad" ]; then say "building ffgrad (about a minute)"; fi
build --package compile-driver
# What needs no LLVM is built during the download, which says nothing where nothing is missing. Ctrl-C does not reach a shell's
# background processes, so the script ends it.
"$BIN/ffgrad" toolchain install >/dev/null &
fetching=$!
trap 'kill "$fetching" 2>/dev/null || true' EXIT
build "${libraries[@]}"
wait "$fetching" || die "the compilers could not be fetched (see above)" "\`make tools\` tries again."
[ "${1:-}" = numpy ] || "$BIN/ffgrad" toolchain install blas >/dev/null
with_llvm
# None of them needs a framework to be built. libffgrad finds the worker in its own folder, the build folder.
build --package ffgrad-llvm "${libraries[@]}"

# The command verifies derivatives in a process of its own.
for program in ffgrad ffgrad-llvm; do replace "$BIN/$program" "$PACKAGE/bin/$program"; done
for library in "$BIN"/libffgrad_{tf,torch}.{so,dylib}; do
    if [ -e "$library" ]; then replace "$library" "$PACKAGE/bin/${library##*/}"; fi
done
for library in "$BIN"/lib_native.so "$BIN"/lib_native.dylib; do
    if [ -e "$library" ]; then replace "$library" "$PACKAGE/_native.abi3.so"; fi
done
