"""Every program and every command on a page runs as it stands and prints what the page says (DX-07)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.docs.pages import GENERATED, PAGES, ROOT, Block, blocks, shown
from tests.docs.running import CONSOLE, OUTPUT, PYTHON, run

WRITTEN = [page for page in PAGES if page not in GENERATED]
DRAWN = ("", "mermaid", "toml")
"""Languages of blocks that are only shown."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own with the examples in it, as the reader of a page has."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", WRITTEN, ids=shown)
def test_a_page_runs_and_prints_what_it_says(page, folder):
    for printed in run(blocks(page), folder):
        if not printed.is_as_told:
            assert printed.actual == printed.expected, f"{printed.where} prints something else than the page says"


@pytest.mark.parametrize("page", WRITTEN, ids=shown)
def test_a_page_holds_only_blocks_that_are_run_or_drawn(page):
    for before, block in zip([None, *blocks(page)], blocks(page), strict=False):
        where = f"{page.name}:{block.line}"
        assert block.language in (PYTHON, OUTPUT, CONSOLE, *DRAWN), f"{where} is in a language that nothing runs"
        if block.language == OUTPUT:
            assert isinstance(before, Block), f"{where} is the output of nothing"
            assert before.language == PYTHON, f"{where} is an output, and no Python block stands before it"
