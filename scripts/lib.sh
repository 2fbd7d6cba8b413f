# Common to all scripts; sourced, not run.

set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export ROOT

# say TEXT..: reports the current step. On standard error, so that results can go to standard output.
say() { printf '==> %s\n' "$*" >&2; }

# die TEXT..: what is wrong, and what to do about it.
die() {
    printf 'error: %s\n' "$1" >&2
    shift
    for line in "$@"; do printf '  %s\n' "$line" >&2; done
    exit 1
}

# need PROGRAM PACKAGE: stops where a program is missing.
need() { command -v "$1" >/dev/null 2>&1 || die "$1 was not found" "Install it (Debian: $2)."; }

# as_one FILE COMMAND..: runs the command while holding a lock on the file, so that two clones do not do the same
# work at the same time. Where there is no flock (macOS) it runs without.
as_one() {
    local lock=$1
    shift
    mkdir -p "$(dirname "$lock")"
    if command -v flock >/dev/null 2>&1; then
        flock --nonblock "$lock" true || say "waiting for another set-up to finish"
        # The lock is descriptor 9 of the command alone: a background process it leaves cannot keep it.
        (flock 9 && "$@" 9>&-) 9>"$lock"
    else
        "$@"
    fi
}

# debian_packages_dir NAME WHAT [ADVICE]: the folder into which Debian 12's packages are unpacked where WHAT is not
# installed, without root. Calls the script's `none` where this is not Debian 12.
debian_packages_dir() {
    local program machine
    for program in apt-get dpkg; do
        command -v "$program" >/dev/null 2>&1 || none "there is no $2, and no $program to fetch Debian's packages with${3:-}"
    done
    # shellcheck source=/dev/null
    machine=$(. /etc/os-release 2>/dev/null && printf '%s-%s\n' "${ID:-}" "${VERSION_ID:-}")
    [ "$machine" = debian-12 ] || none "there is no $2, and packages are known for Debian 12 only${3:-}"
    printf '%s\n' "${FFGRAD_ENV_DIR:-${XDG_CACHE_HOME:-${HOME:?"set HOME or FFGRAD_ENV_DIR"}/.cache}/ffgrad-env}/$1-$machine-$LAYOUT"
}

# unpack_debian_packages DIR PACKAGE..: fetches packages with apt and unpacks them below a folder, without root.
unpack_debian_packages() {
    local to=$1 work file
    shift
    work=$(mktemp -d)
    # shellcheck disable=SC2064
    trap "rm -rf '$work'" EXIT
    chmod 777 "$work"
    (cd "$work" && apt-get download -qq "$@") >&2 || none "apt cannot fetch Debian's packages"
    for file in "$work"/*.deb; do dpkg -x "$file" "$to"; done
}

# llvm_library_path DIR: what the loader needs to start the worker with the libLLVM in DIR. The one from pip has its
# C++ library in a folder below.
llvm_library_path() {
    local path=$1
    for below in "$1"/*-unknown-linux-gnu; do [ -d "$below" ] && path=$path:$below; done
    printf '%s\n' "$path"
}

# One build folder, whatever the caller's environment says. The extension module is for every Python from 3.10 on: it
# links none, and no particular one is asked. With the same settings everywhere cargo never builds a thing twice.
export CARGO_TARGET_DIR=$ROOT/target
export PYO3_BUILD_EXTENSION_MODULE=1
export PYO3_NO_PYTHON=1
BIN=$CARGO_TARGET_DIR/release
PYTHON_BIN=$ROOT/.venv/bin
PACKAGE=$ROOT/py/python/ffgrad

# with_llvm: lets cargo link the worker, and its tests start it.
with_llvm() {
    FFGRAD_LLVM_LIB_DIR=$("$BIN/ffgrad" toolchain libdir)
    export FFGRAD_LLVM_LIB_DIR
}

# replace SOURCE TARGET: copies a file if it changed, so that a program in use or another's time stamp is not disturbed.
replace() {
    cmp -s "$1" "$2" && return
    mkdir -p "$(dirname "$2")"
    cp "$1" "$2.new.$$"
    mv "$2.new.$$" "$2"
}
