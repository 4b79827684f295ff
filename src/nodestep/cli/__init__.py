"""The command line: runs graphs, lists what waits for people, takes their answers.

It is built on the public API and on `people`, and holds no rule of its own about threads. Without the extra `cli` the
entry point says how to install it.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec

NOT_INSTALLED = 2


def main() -> int:
    """Run the command that the program's arguments name; returns its exit code."""
    missing = [package for package in ("typer", "rich") if find_spec(package) is None]
    if missing:
        sys.stderr.write(
            f"nodestep's command line needs {' and '.join(missing)}, which the extra brings: pip install 'nodestep[cli]'\n"
        )
        return NOT_INSTALLED
    from .app import run

    return run(sys.argv[1:])
