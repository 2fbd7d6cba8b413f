#!/usr/bin/env bash
# Fuzzes all code that reads text from outside: signatures, files of the cache, shapes, messages of tools. fuzz.sh [SECONDS]
# [TARGET..]: each target for that time, else 60 s. Needs a nightly compiler and cargo-fuzz.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
cd "$ROOT"
# Separate from builds without the sanitizer.
export CARGO_TARGET_DIR=$ROOT/fuzz/target

need cargo "rustup"
cargo +nightly --version >/dev/null 2>&1 || die "there is no nightly compiler" "rustup toolchain install nightly --profile minimal"
cargo fuzz --version >/dev/null 2>&1 || die "cargo-fuzz was not found" "cargo install cargo-fuzz"

seconds=${1:-60}
[ $# -gt 0 ] && shift
targets=("$@")
[ $# -gt 0 ] || targets=(signature sealed shapes messages)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for target in "${targets[@]}"; do
    say "fuzzing $target for $seconds s"
    # fuzz/corpus has the inputs found before; a failure is written to fuzz/artifacts.
    status=0
    cargo +nightly fuzz run --fuzz-dir fuzz "$target" -- -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=10 \
        -print_final_stats=1 >"$log" 2>&1 || status=$?
    grep -E "^(stat::number_of_executed|stat::average|SUMMARY|Done)" "$log" || true
    [ "$status" -eq 0 ] || die "$target failed: $(grep -m1 -E "panicked|ERROR|error" "$log")" \
        "cargo +nightly fuzz run --fuzz-dir fuzz $target fuzz/artifacts/$target/FILE shows it again"
done
