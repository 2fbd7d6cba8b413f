#!/usr/bin/env bash
# bench.sh [ARGUMENT..]: the benchmark; arguments go to benches/run.py. Its competitors beside torch
# (requirements/bench.txt) are installed into the shared environment first; where that fails, their columns are left out.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
cd "$ROOT"

requirements=requirements/bench.txt

# Installed in exactly the versions asked for?
has_peers() {
    "$PYTHON_BIN/python" - "$requirements" <<'EOF'
import sys
from importlib import metadata

try:
    lines = (line.split("#")[0].strip() for line in open(sys.argv[1]))
    wanted = (line.split("==") for line in lines if line)
    sys.exit(any(metadata.version(name) != version for name, version in wanted))
except metadata.PackageNotFoundError:
    sys.exit(1)
EOF
}

install_peers() {
    has_peers && return # another clone was faster
    local env=$1 pip=("$1/bin/python" -m pip)
    if "${PYTHON:-python3}" -m pip --python "$env/bin/python" --version >/dev/null 2>&1; then
        pip=("${PYTHON:-python3}" -m pip --python "$env/bin/python")
    fi
    say "installing $requirements for comparison"
    "${pip[@]}" install --disable-pip-version-check --no-input --quiet -r "$requirements" ||
        say "pip could not install $requirements: its columns are left out"
}

# `.ready` holds the shared environment's folder and this clone's, neither with a newline.
shared=$(sed "s| $ROOT\$||" .venv/.ready)
has_peers || as_one "$shared.lock" install_peers "$shared"

# torch's C++ extensions, one of the competitors, look for ninja on PATH.
PATH=$PYTHON_BIN:$PATH exec "$PYTHON_BIN/python" benches/run.py "$@"
