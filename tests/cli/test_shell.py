"""Command lines to type: a shell hands over exactly the text, and a reader sees all of it."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodestep.cli.safe_text import shown_lines
from nodestep.cli.shell import command, word

ODD = st.sampled_from("'\"\\!$` \t\n\x1b\u202e\u0301-")
ANY = st.text(st.one_of(st.characters(exclude_categories=(), exclude_characters="\x00"), ODD))
WELL_FORMED = st.text(st.one_of(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), ODD))


@pytest.mark.skipif(shutil.which("bash") is None, reason="asks bash")
@settings(max_examples=30)
@given(st.lists(WELL_FORMED, min_size=1, max_size=20))
def test_bash_reads_every_word_as_the_text_it_stands_for(texts):
    line = "printf '%s\\0' " + " ".join(map(word, texts))
    printed = subprocess.run(["bash", "-c", line], capture_output=True, check=True).stdout
    assert printed.split(b"\x00")[:-1] == [text.encode() for text in texts]


@given(ANY)
def test_a_word_shows_nothing_harmful_and_no_gap(text):
    shown = word(text)
    assert shown_lines(shown.replace("\\", "")) == [shown.replace("\\", "")]
    assert "  " not in shown


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("refund-1", "refund-1"),
        ("review:approve", "review:approve"),
        ("two words", "'two words'"),
        ("it's", "'it'\\''s'"),
        ("", "''"),
        ("a\nb", "$'a\\nb'"),
        ("\x1b[2K", "$'\\033[2K'"),
        ("gap  gap", "$'gap\\040\\040gap'"),
        ("\u202e", "$'\\342\\200\\256'"),
        ("x" * 50 + " Recorded: yes", "$'" + "x" * 50 + "\\040Recorded:\\040yes'"),
    ],
)
def test_words_are_quoted_only_as_far_as_they_need(text, typed):
    assert word(text) == typed


def test_a_command_puts_arguments_that_begin_with_a_dash_behind_two():
    assert command("answer", {"--pause": 3}, "-t", "k", "v") == "nodestep answer --pause 3 -- -t k v"
    assert command("run", {"--thread": "-t"}, first="a.py") == "nodestep run a.py --thread=-t"
    assert command("run", {}, first="-a.py") == "nodestep run -- -a.py"


def test_a_command_leaves_out_what_is_not_given():
    options = {"--store": "a.db", "--branch": None, "-j": False, "--full": True, "--answer": ["a=1", "b=2"]}
    assert command("pending", options) == "nodestep pending --store a.db --full --answer a=1 --answer b=2"
