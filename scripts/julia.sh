#!/usr/bin/env bash
# julia.sh: prints the path of a Julia to test with, or says on standard error why there is none and exits with 3.
#
# In this order: $JULIA; a `julia` on PATH; the packages of Debian 11, unpacked without root into
#
#   ${FFGRAD_ENV_DIR:-~/.cache/ffgrad-env}/julia-<key>/    root/   the packages' files (about 360 MB)
#                                                          lib/    links to those libraries that the machine has not
#                                                          julia   starts it
#
# Debian 11 has Julia 1.5.3. apt fetches and verifies the packages, from the machine's own Debian mirror, with lists and
# caches of its own: the machine's apt and dpkg see nothing of it.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

SUITE=bullseye
# Raise where the layout of the folder changes: it is then made again.
LAYOUT=2
# Of the packages that Julia needs, those that every machine has; a second C library would only do harm.
OF_THE_MACHINE='^(libc6|libcrypt1|libgcc-s1|libstdc\+\+6|libselinux1|libacl1)$'

# none REASON..: there is no Julia to be had.
none() {
    printf 'no Julia: %s\n' "$*" >&2
    exit 3
}

# debian_source: the machine's own entry for Debian with our suite in place of its own, in the format of its file.
debian_source() {
    local codename=$1 folder=${FFGRAD_APT_DIR:-/etc/apt} file
    for file in "$folder"/sources.list.d/*.sources; do
        [ -e "$file" ] || continue
        awk -v own="$codename" -v suite="$SUITE" '
            BEGIN { RS = ""; ORS = "\n\n" }
            $0 ~ "(^|\n)Suites:[^\n]* " own "( |\n|$)" && /(^|\n)Types:[^\n]*deb/ {
                sub("Suites:[^\n]*", "Suites: " suite); sub("Types:[^\n]*", "Types: deb"); print
            }' "$file"
    done >"$2.sources"
    for file in "$folder"/sources.list "$folder"/sources.list.d/*.list; do
        [ -e "$file" ] || continue
        awk -v own="$codename" -v suite="$SUITE" '
            $1 == "deb" {
                at = ($2 ~ /^\[/) ? 3 : 2
                while (at > 2 && $(at - 1) !~ /\]$/) at++
                if ($(at + 1) == own) { $(at + 1) = suite; print }
            }' "$file"
    done >"$2.list"
    if [ -s "$2.sources" ]; then
        printf '%s\n' "$2.sources"
    elif [ -s "$2.list" ]; then
        printf '%s\n' "$2.list"
    fi
}

is_ready() { [ -e "$1/.ready" ] && [ -x "$1/julia" ]; }

make_julia() {
    local env=$1 codename=$2 start=$SECONDS work source name file
    is_ready "$env" && return # another clone was faster
    say "fetching Julia 1.5.3 from the packages of Debian 11 into $env (about 70 MB; once)"
    rm -rf "$env"
    mkdir -p "$env/root" "$env/lib"
    work=$(mktemp -d)
    # shellcheck disable=SC2064
    trap "rm -rf '$work'" EXIT
    mkdir -p "$work"/{state/lists/partial,cache/archives/partial,debs}
    chmod 755 "$work" && chmod 777 "$work/debs"
    : >"$work/status"
    source=$(debian_source "$codename" "$work/suite")
    [ -n "$source" ] || none "apt has no source for Debian's suite $codename to take a mirror from"
    apt() {
        local program=$1
        shift
        "$program" -qq -o Dir::State="$work/state" -o Dir::State::status="$work/status" -o Dir::Cache="$work/cache" \
            -o Dir::Etc::sourcelist="$source" -o Dir::Etc::sourceparts=- -o APT::Install-Recommends=false \
            -o Debug::NoLocking=true "$@"
    }
    apt apt-get update >&2 || none "apt cannot read Debian 11's package lists"
    local names
    names=$(apt apt-get install --no-act julia | awk '/^Inst / { print $2 }' | grep -E '^(lib|julia)' | grep -v -E "$OF_THE_MACHINE")
    [ -n "$names" ] || none "Debian 11's package lists have no julia"
    # shellcheck disable=SC2086
    (cd "$work/debs" && apt apt-get download $names) >&2 || none "apt cannot fetch the packages"
    for file in "$work"/debs/*.deb; do dpkg -x "$file" "$env/root"; done

    # Only what the machine lacks goes on the library path: the compilers that Julia starts inherit it.
    local known
    known=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p | awk '{ print $1 }' | sort -u)
    for file in "$env"/root/{usr/lib,lib}/*-linux-gnu/*.so.*; do
        name=${file##*/}
        # Julia was built with this very libunwind: with a newer one it crashes where it throws an exception.
        [[ $name != libunwind* ]] && grep -qxF -- "$name" <<<"$known" || ln -sf "$file" "$env/lib/$name"
    done
    # Julia opens its own by names without a version, from this folder.
    for file in "$env"/root/usr/lib/*-linux-gnu/julia; do printf '%s\n' "$env/lib:$file" >"$env/path"; done
    cat >"$env/julia" <<'RUN'
#!/bin/sh
here=${0%/*}
LD_LIBRARY_PATH=$(cat "$here/path")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
exec "$here/root/usr/bin/julia" "$@"
RUN
    chmod +x "$env/julia"
    "$env/julia" --startup-file=no -e 'using LinearAlgebra; try sqrt(-1.0) catch end; exit([1.0 2.0] * [3.0, 4.0] == [11.0] ? 0 : 1)' >&2 ||
        none "the one from Debian 11 does not start on this machine"
    touch "$env/.ready"
    say "Julia ready after $((SECONDS - start)) s"
}

if [ -n "${JULIA:-}" ]; then
    command -v "$JULIA" || die "JULIA=$JULIA is not a program" "Set it to Julia 1.5 or later, or unset it."
    exit
fi
if command -v julia; then exit; fi

for program in apt-get dpkg awk; do
    command -v "$program" >/dev/null 2>&1 || none "none on PATH, and no $program to fetch Debian's with; install Julia 1.5 or later"
done
[ "$(uname -m)" = x86_64 ] || none "none on PATH, and Debian's is fetched for x86-64 only; install Julia 1.5 or later"
# shellcheck source=/dev/null
machine=$(. /etc/os-release 2>/dev/null && printf '%s %s\n' "${ID:-}-${VERSION_ID:-}" "${VERSION_CODENAME:-}")
read -r system codename <<<"$machine" || true
[ -n "${codename:-}" ] || none "/etc/os-release names no suite of Debian to find a mirror by"
base=${FFGRAD_ENV_DIR:-${XDG_CACHE_HOME:-${HOME:?"set HOME or FFGRAD_ENV_DIR"}/.cache}/ffgrad-env}
env=$base/julia-1.5.3-$system-$LAYOUT
is_ready "$env" || as_one "$env.lock" make_julia "$env" "$codename"
printf '%s\n' "$env/julia"
