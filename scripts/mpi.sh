#!/usr/bin/env bash
# mpi.sh: prints the folder of an MPI's mpicc and mpiexec to test with, or says on standard error why there is none and exits
# with 3.
#
# In this order: those on PATH; OpenMPI from the packages of this machine's Debian, unpacked without root into
#
#   ${FFGRAD_ENV_DIR:-~/.cache/ffgrad-env}/openmpi-<key>/    root/   the packages' files (about 40 MB)
#                                                            bin/    mpicc and mpiexec that know where they are
#
# apt fetches and verifies the packages; the machine's own are left alone.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# Raise where the layout of the folder changes: it is then made again.
LAYOUT=1
PACKAGES=(openmpi-bin openmpi-common libopenmpi3 libopenmpi-dev libpmix2 libhwloc15 libevent-2.1-7 libevent-core-2.1-7
    libevent-pthreads-2.1-7 libnl-3-200 libnl-route-3-200 libibverbs1 libnuma1 libltdl7 librdmacm1 libucx0 libfabric1
    libpsm-infinipath1 libpsm2-2 libmunge2 libgfortran5 libquadmath0)

# none REASON..: there is no MPI to be had.
none() {
    printf 'no MPI: %s\n' "$*" >&2
    exit 3
}

is_ready() { [ -e "$1/.ready" ] && [ -x "$1/bin/mpiexec" ]; }

make_openmpi() {
    local env=$1 lib
    is_ready "$env" && return # another clone was faster
    say "fetching OpenMPI from Debian's packages into $env (about 10 MB; once)"
    rm -rf "$env"
    mkdir -p "$env/root" "$env/bin"
    unpack_debian_packages "$env/root" "${PACKAGES[@]}"
    lib=$(echo "$env"/root/usr/lib/*-linux-gnu)
    # OpenMPI looks for its parts where it was built to be, unless a variable names another folder.
    cat >"$env/settings" <<RUN
export LD_LIBRARY_PATH=$lib:$lib/openmpi/lib:$lib/libpsm1\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}
export OPAL_PREFIX=$env/root/usr OPAL_LIBDIR=$lib/openmpi/lib OPAL_PKGLIBDIR=$lib/openmpi/lib/openmpi3
export OPAL_DATADIR=$env/root/usr/share OPAL_PKGDATADIR=$env/root/usr/share/openmpi OPAL_SYSCONFDIR=$env/root/etc
export PMIX_INSTALL_PREFIX=$lib/pmix2 OMPI_MCA_mca_base_component_path=$lib/openmpi/lib/openmpi3
export OMPI_MCA_mca_base_component_show_load_errors=0 PMIX_MCA_pcompress_base_silence_warning=1
RUN
    # The header's folder and the library's, as mpicc says them.
    cat >"$env/bin/mpicc" <<RUN
#!/bin/sh
set -- -I$lib/openmpi/include "\$@" -L$lib/openmpi/lib -L$lib -Wl,-rpath-link,$lib -lmpi
case " \$* " in *" -show "*) echo gcc "\$@" | sed 's/ -show//'; exit ;; esac
exec \${CC:-gcc} "\$@"
RUN
    cat >"$env/bin/mpiexec" <<RUN
#!/bin/sh
. "$env/settings"
exec $env/root/usr/bin/orterun "\$@"
RUN
    chmod +x "$env"/bin/*
    "$env/bin/mpiexec" --allow-run-as-root --oversubscribe -n 2 true ||
        none "the OpenMPI of Debian's packages does not start on this machine"
    touch "$env/.ready"
}

if command -v mpicc >/dev/null 2>&1 && command -v mpiexec >/dev/null 2>&1; then
    dirname "$(command -v mpicc)"
    exit
fi
env=$(debian_packages_dir openmpi "mpicc on PATH" "; install an MPI")
is_ready "$env" || as_one "$env.lock" make_openmpi "$env"
printf '%s\n' "$env/bin"
