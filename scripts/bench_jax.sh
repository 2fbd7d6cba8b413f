#!/usr/bin/env bash
# bench_jax.sh [ARGUMENT..]: what a call costs in JAX; arguments go to benches/jax_overhead.py. Enzyme-JAX, with which it compares
# (requirements/bench-jax.txt), is put into the shared environment first; where that fails, its row is left out.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
cd "$ROOT"

# `.ready` holds the shared environment's folder and this clone's, neither with a newline.
shared=$(sed "s| $ROOT\$||" .venv-jax/.ready)
if ! .venv-jax/bin/python -c 'import enzyme_ad' 2>/dev/null; then
    say "installing requirements/bench-jax.txt for comparison"
    "${PYTHON:-python3}" -m pip --python "$shared/bin/python" install --disable-pip-version-check --no-input --quiet \
        --no-deps -r requirements/bench-jax.txt || say "pip could not install it: Enzyme-JAX is left out"
fi
exec .venv-jax/bin/python benches/jax_overhead.py "$@"
