"""nodestep on the workloads of README.md, through its public API.

python benchmarks/ours.py [--only W1,W5.sync] [--skip W8] [--tmp /dev/shm] [--profile W1.sync]
"""

from __future__ import annotations

import sys

import this_checkout  # noqa: F401
import workloads  # noqa: F401
from harness import main

from nodestep import __version__

if __name__ == "__main__":
    sys.exit(main("ours", __version__))
