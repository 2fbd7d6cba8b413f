"""The command ``ffgrad``, as ``python -m ffgrad`` and as the package's console script."""

from __future__ import annotations

import os
import sys

from ffgrad.errors import ToolchainError
from ffgrad.toolchain import command, environment


def main() -> None:
    """Become the command: it has this process's arguments, streams and signals."""
    try:
        program = command()
    except ToolchainError as error:
        raise SystemExit(f"error: {error}") from None
    os.execve(program, [program, *sys.argv[1:]], environment())


if __name__ == "__main__":
    main()
