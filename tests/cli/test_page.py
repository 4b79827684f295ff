"""The page of the command line is what the commands say of themselves."""

from __future__ import annotations

import re

import pytest

from nodestep.cli.app import COMMANDS
from scripts._commands import COMMAND_LINE, with_commands

PAGE = COMMAND_LINE.read_text(encoding="utf-8")


def test_the_page_is_up_to_date():
    assert with_commands(PAGE) == PAGE, "run scripts/reference"


@pytest.mark.parametrize("mark", ["overview", "commands", "exit codes"])
def test_the_page_has_the_marks_that_the_script_fills(mark):
    assert PAGE.count(f"<!-- {mark} -->\n") == PAGE.count(f"<!-- end of {mark} -->\n") == 1
    emptied = re.sub(rf"(<!-- {mark} -->\n).*(<!-- end of {mark} -->)", r"\1\2", PAGE, flags=re.DOTALL)
    assert emptied != PAGE
    assert with_commands(emptied) == PAGE


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_heading_and_a_row_in_the_overview(name):
    assert f"\n### `nodestep {name}`\n" in PAGE
    assert f"](#nodestep-{name}) |" in PAGE


def test_the_page_begins_with_something_that_runs():
    assert PAGE.index("```console\n$ nodestep ") < PAGE.index("<!-- overview -->")
