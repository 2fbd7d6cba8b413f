#!/usr/bin/env bash
# openmp.sh: provides an LLVM OpenMP runtime for the tests: the system's libomp, else the one that
# `ffgrad toolchain install openmp` fetches. Does nothing where there is one.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

if [ -n "${FFGRAD_OPENMP:-}" ]; then exit; fi
if PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null | grep -qE 'lib(omp\.so\.5|iomp5\.so) '; then exit; fi
if compgen -G '/usr/lib/llvm-*/lib/libomp.so.5' >/dev/null; then exit; fi
"$BIN/ffgrad" toolchain install openmp >/dev/null
