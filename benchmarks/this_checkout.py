"""Puts the `src` of this checkout first on the path, so that what is measured is what is checked out. Import it before
nodestep; it knows nothing of what is measured."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parent
SRC = BENCHMARKS.parent / "src"

if str(SRC) not in sys.path:
    sys.path.insert(0, str(SRC))


def environment() -> dict[str, str]:
    """The environment for a child process that is to find the same nodestep, compiled once as an installed package is; what
    is compiled lies outside of the checkout."""
    bytecode = Path(tempfile.gettempdir()) / f"nodestep-bytecode-{os.getuid()}"
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPATH": str(SRC), "PYTHONPYCACHEPREFIX": str(bytecode)}
