"""Every link within the project leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, PAGES, ROOT, anchors, links, prose, shown

OUTSIDE = ("https://", "http://", "mailto:")


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=shown)
def test_a_link_leads_to_a_file_and_to_a_heading_in_it(page):
    for link in links(page):
        if link.startswith(OUTSIDE):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{shown(page)} links to {link}, which does not exist"
        assert target.is_relative_to(ROOT), f"{shown(page)} links to {link}, outside of the project"
        if anchor:
            assert anchor in anchors(target), f"{shown(page)} links to {link}, and there is no such heading"


@pytest.mark.parametrize("page", [page for page in PAGES if page.parent == DOCS and page.stem != "index"], ids=shown)
def test_a_page_is_linked_from_the_index(page):
    assert page.name in links(DOCS / "index.md")


@pytest.mark.parametrize("note", sorted((DOCS / "design").glob("*.md")), ids=lambda note: note.stem)
def test_a_design_note_is_linked_from_the_page_of_architecture(note: Path):
    assert f"design/{note.name}" in links(DOCS / "architecture.md")


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_a_file_of_the_package_that_a_page_names_exists(page):
    for name in re.findall(r"`([a-z_]+/[a-z_/]+\.py)`", prose(page)):
        assert (ROOT / "src" / "nodestep" / name).exists() or (ROOT / name).exists(), f"{shown(page)} names {name}"
