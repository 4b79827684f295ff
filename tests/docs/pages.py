"""The pages of the documentation, read: their code blocks, links and headings.

Knows enough Markdown for that and no more: fenced blocks, inline links, headings that begin with `#`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = (ROOT / "README.md", *sorted(DOCS.rglob("*.md")))
GENERATED = frozenset({DOCS / "reference.md"})

_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"#{1,6} +(.*?)\s*#*")
_FENCE = re.compile(r"(?P<indent> *)```(?P<info>.*)")


@dataclass(frozen=True)
class Block:
    """A fenced block. `line` is the page's line of its first line of text, from 1; `flags` are the words after the
    language."""

    page: Path
    line: int
    language: str
    flags: tuple[str, ...]
    text: str


def shown(page: Path) -> str:
    """The page as a test's name."""
    return str(page.relative_to(ROOT))


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    found: list[Block] = []
    lines = page.read_text(encoding="utf-8").splitlines()
    at = 0
    while at < len(lines):
        fence = _FENCE.fullmatch(lines[at])
        at += 1
        if fence is None:
            continue
        first, indent = at, fence["indent"]
        while lines[at] != f"{indent}```":
            at += 1
        language, *flags = fence["info"].split() or [""]
        text = "".join(f"{line.removeprefix(indent)}\n" for line in lines[first:at])
        found.append(Block(page, first + 1, language, tuple(flags), text))
        at += 1
    return found


def prose(page: Path) -> str:
    """A page without its fenced blocks."""
    return re.sub(r"^( *)```.*?^\1```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def links(page: Path) -> list[str]:
    """The targets of a page's links, in order."""
    return _LINK.findall(prose(page))


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and most others derive them."""
    return set(_anchors(page))


def _anchors(page: Path) -> Iterator[str]:
    for line in prose(page).splitlines():
        heading = _HEADING.fullmatch(line)
        if heading is not None:
            words = re.sub(r"[^\w\- ]", "", heading[1].lower())
            yield words.replace(" ", "-")
