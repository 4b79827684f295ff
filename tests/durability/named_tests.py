"""Tests that are named elsewhere, in a list or on a page: whether they are there."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
ELSEWHERE = {"tests/stores/test_contract.py": ROOT / "src" / "nodestep" / "testing" / "contract"}
"""Files that take their tests from another place."""


def is_there(test: str) -> bool:
    """Whether `path/to/test_file.py`, or one test of it after `::`, exists; its parameters in brackets are not looked at."""
    file, _, function = test.partition("[")[0].partition("::")
    if not (ROOT / file).is_file():
        return False
    sources = list(ELSEWHERE[file].glob("*.py")) if file in ELSEWHERE else [ROOT / file]
    return not function or any(f"def {function}(" in source.read_text(encoding="utf-8") for source in sources)
