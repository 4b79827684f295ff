"""What the code has, the documentation tells."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

import pytest
from typer.main import get_command

import nodestep
from nodestep.cli.app import application
from nodestep.cli.exits import MEANING
from nodestep.hooks.middleware import HOOKS
from nodestep.model import limits
from nodestep.runtime.stream import MODES
from scripts._reference import ARCHITECTURE, REFERENCE, reference, with_tree
from tests.docs.pages import DOCS, GENERATED, PAGES, prose

WRITTEN = "\n".join(page.read_text(encoding="utf-8") for page in PAGES if page not in GENERATED)
PUBLIC = sorted(
    {name for module in ("nodestep", "nodestep.middleware", "nodestep.chat") for name in import_module(module).__all__}
    - {"__version__"}
)
REGENERATE = "run scripts/reference"


def is_mentioned(name: str) -> bool:
    return re.search(rf"\b{name}\b", WRITTEN) is not None


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_is_on_a_page(name):
    assert is_mentioned(name), f"no page mentions {name}"


@pytest.mark.parametrize("name", HOOKS)
def test_a_hook_is_on_the_page_of_middleware(name):
    assert f"`{name}" in prose(DOCS / "middleware.md")


@pytest.mark.parametrize("mode", MODES)
def test_a_stream_mode_is_on_the_page_of_streaming(mode):
    assert f'`"{mode}"`' in prose(DOCS / "streaming.md")


def errors() -> list[type[BaseException]]:
    everything = [getattr(nodestep, name) for name in nodestep.__all__]
    return [value for value in everything if isinstance(value, type) and issubclass(value, BaseException)]


@pytest.mark.parametrize("error", errors(), ids=lambda error: error.__name__)
def test_an_error_is_on_the_page_of_errors_with_what_to_do(error):
    assert f"`{error.__name__}`" in prose(DOCS / "errors.md")


def test_the_tree_of_errors_is_the_one_of_the_code():
    drawn = [line.strip() for line in (nodestep.errors.__doc__ or "").splitlines() if "├" in line or "└" in line]
    page = (DOCS / "errors.md").read_text(encoding="utf-8")
    assert drawn
    for line in drawn:
        assert line in page


@pytest.mark.parametrize(
    ("limit", "told"),
    [
        (limits.MAX_ID_CHARS, "512 characters"),
        (limits.MAX_PAYLOAD_BYTES, "1 MiB"),
        (limits.MAX_STATE_BYTES, "100 MiB"),
        (limits.MAX_DEPTH, "100 levels"),
        (limits.MAX_OPEN_QUESTIONS, "1,000"),
    ],
)
def test_a_limit_on_its_page_is_the_one_of_the_code(limit, told):
    number, _, unit = told.partition(" ")
    value = int(number.replace(",", "")) * (1 << 20 if unit == "MiB" else 1)
    assert value == limit
    assert told in prose(DOCS / "limits.md")


def test_the_reference_is_what_the_code_says():
    assert REFERENCE.read_text(encoding="utf-8") == reference(), REGENERATE


def test_the_tree_of_files_is_the_real_one():
    page = ARCHITECTURE.read_text(encoding="utf-8")
    assert "<!-- tree -->" in page
    assert page == with_tree(page), REGENERATE


def commands() -> dict[str, Any]:
    return get_command(application()).commands  # type: ignore[attr-defined]


@pytest.mark.parametrize("command", sorted(commands()))
def test_a_command_and_its_options_are_on_the_page_of_the_command_line(command):
    page = prose(DOCS / "command-line.md")
    options = [option for parameter in commands()[command].params for option in parameter.opts if option[:2] == "--"]
    assert f"`nodestep {command}" in page
    assert [option for option in options if option not in page] == []


@pytest.mark.parametrize("code", MEANING)
def test_an_exit_code_is_on_the_page_of_the_command_line(code):
    assert f"| {code.value} | {MEANING[code]} |" in prose(DOCS / "command-line.md")
