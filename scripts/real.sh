#!/usr/bin/env bash
# real.sh: prints the folder that has the usr/ of the libraries that tests/real uses, or says on standard error why some are
# missing and exits with 3.
#
# In this order: "/", where all are installed; the packages of this machine's Debian, unpacked without root into
#
#   ${FFGRAD_ENV_DIR:-~/.cache/ffgrad-env}/libraries-<key>/usr    (about 250 MB)
#
# apt fetches and verifies the packages; the machine's own are left alone.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# Raise where the list changes: the folder is then made again.
LAYOUT=1
PACKAGES=(libeigen3-dev libboost1.74-dev libgsl-dev libgsl27 libgslcblas0 libfftw3-dev libfftw3-double3 libfmt-dev libfmt9
    libxtensor-dev xtl-dev nlohmann-json3-dev libceres-dev libgoogle-glog-dev libgoogle-glog0v6 libgflags-dev libgflags2.2
    libunwind8 liblzma5)
HEADERS=(eigen3/Eigen/Core boost/version.hpp gsl/gsl_version.h fftw3.h fmt/core.h xtensor/xtensor.hpp nlohmann/json.hpp
    ceres/jet.h)

# none REASON..: some libraries are missing.
none() {
    printf 'no libraries for tests/real: %s\n' "$*" >&2
    exit 3
}

is_ready() { [ -e "$1/.ready" ]; }

fetch() {
    local env=$1
    is_ready "$env" && return # another clone was faster
    say "fetching Eigen, Boost, GSL and others from Debian's packages into $env (about 20 MB; once)"
    rm -rf "$env"
    mkdir -p "$env"
    unpack_debian_packages "$env" "${PACKAGES[@]}"
    touch "$env/.ready"
}

missing=
for header in "${HEADERS[@]}"; do [ -e "/usr/include/$header" ] || missing=$header; done
if [ -z "$missing" ] && [ "${1:-}" != --fetch ]; then
    echo /
    exit
fi
env=$(debian_packages_dir libraries "$missing")
is_ready "$env" || as_one "$env.lock" fetch "$env"
printf '%s\n' "$env"
