#!/usr/bin/env bash
# The driver under ThreadSanitizer: threads that open, build, call and prune at once (compile-driver/tests/threads.rs). The arguments of tsan.sh [ARGS..] go
# to the test program. Needs a nightly compiler with the sources of the standard library, which is instrumented too.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
cd "$ROOT"
# Separate from builds without the sanitizer.
export CARGO_TARGET_DIR=$ROOT/target/tsan

none() {
    [[ ${FFGRAD_REQUIRE:-} != *tsan* ]] || die "$1" "$2"
    say "tsan: skipped, $1 ($2)"
    exit
}
cargo +nightly --version >/dev/null 2>&1 || none "there is no nightly compiler" "rustup toolchain install nightly --profile minimal"
[ -d "$(rustc +nightly --print sysroot)/lib/rustlib/src/rust/library" ] ||
    none "the nightly compiler lacks the standard library's sources" "rustup component add rust-src --toolchain nightly"

target=$(rustc +nightly -vV | sed -n 's/^host: //p')
# The sanitizer does not start where the kernel places memory at addresses that it does not know.
fixed=()
setarch -R true >/dev/null 2>&1 && fixed=(setarch -R)
unset MAKEFLAGS
export RUSTFLAGS=-Zsanitizer=thread FFGRAD_WORKER=${FFGRAD_WORKER:-$BIN/ffgrad-llvm}
"${fixed[@]}" cargo +nightly test --quiet -Zbuild-std --target "$target" -p compile-driver --test threads "$@"
say "tsan: no race"
