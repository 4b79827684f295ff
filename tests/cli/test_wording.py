"""Errors of the engine, which speak Python, as the command line tells them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import nodestep
from nodestep import errors
from nodestep.cli.wording import WORDING, in_commands

from .driving import GRAPHS, REFUND, RELEASE

SOURCE = Path(nodestep.__file__).parent
PYTHON = re.compile(
    r"\b(?:a?invoke|Resume|SQLiteStateStore)\(|\b(?:pending|threads|audit|prune|history)\((?:limit|after|status|keep)="
    r"|\bgraph\.\w+\(|\bhistory\(\)|\bawait\b"
)
UNREACHABLE = (
    "A dict maps keys or fields to answers",
    "A Resume is no input",
    "resume= takes a Resume",
    "A call takes an input or resume=",
    "Resume(answers=...) must answer every",
    "questions are open, and one value cannot answer them",
    "answer() takes a non-empty mapping",
    "was called inside a running event loop",
    "takes a store such as",
    "A store's methods ask that store",
    "Resume takes one of two forms",
    "Resume(answers=...) takes a mapping",
    "has no nodes yet",
    "was called outside a running node",
    "names no file. Use InMemoryStateStore()",
    "is closed. Open it again with",
)
"""What the command line never brings about."""

ABOUT_CODE = (" a coroutine",)
"""What tells the author of a node what to write there, which is Python wherever it is told."""


def messages() -> Iterator[tuple[str, str]]:
    """Every sentence that the package outside the command line hands to a call, such as that of an error."""
    for file in sorted(SOURCE.rglob("*.py")):
        if "cli" in file.parts:
            continue
        for found in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(found, ast.Call):
                for argument in found.args:
                    text = literal(argument)
                    if " " in text:
                        yield f"{file.name}:{argument.lineno}", text


def literal(found: ast.expr) -> str:
    """A text with something in the place of whatever is put into it."""
    match found:
        case ast.Constant(value=str(text)):
            return text
        case ast.FormattedValue(conversion=conversion):
            return "'x'" if conversion == ord("r") else "audit"
        case ast.JoinedStr(values=values):
            return "".join(map(literal, values))
    return ""


SPEAKING = [(where, text) for where, text in messages() if PYTHON.search(text)]


def test_there_are_messages_that_speak_python():
    assert len(SPEAKING) > 10


@pytest.mark.parametrize(("where", "text"), SPEAKING, ids=[where for where, _ in SPEAKING])
def test_a_message_that_speaks_python_is_told_in_commands(where, text):
    if any(words in text for words in (*UNREACHABLE, *ABOUT_CODE)):
        return
    assert not PYTHON.search(in_commands(text)), in_commands(text)


@pytest.mark.parametrize("pattern", [pattern for pattern, _ in WORDING])
def test_every_row_of_the_table_is_used(pattern):
    told = [text for _, text in messages()] + [str(errors.InvalidUpdateError.finished("x", "a", "update_state", 1))]
    assert any(re.search(pattern, text, re.DOTALL) for text in told)


RUN = ["run", RELEASE, "--store", "a.db", "--thread", "r"]


@pytest.mark.parametrize(
    ("prepare", "arguments", "words"),
    [
        ([], ["run", RELEASE], "Give --store FILE and --thread ID; to run without a store, give an input"),
        ([], ["run", f"{GRAPHS / 'kinds.py'}:in_memory", "--input", "{}"], "has a store, so a run needs --thread ID"),
        ([], ["run", REFUND, "--input", "{}"], "Give --store FILE and --thread ID"),
        (["paused"], [*RUN[:-1], "other"], "as in `nodestep run TARGET --thread ID --input JSON`"),
        (["paused", "answered"], [*RUN, "--input", "{}"], "Continue it with `nodestep run` without --input first"),
        (["paused", "answered", "done"], RUN, "as in `nodestep run TARGET --thread ID --input JSON`"),
    ],
)
def test_common_refusals_name_commands(nodestep, prepare, arguments, words):
    steps = {
        "paused": [*RUN, "--input", "{}"],
        "answered": [
            *("answer", "--store", "a.db", "--pause", "1", "r"),
            *("--answer", "legal:sign_off=y", "--answer", "security:sign_off=y"),
        ],
        "done": RUN,
    }
    for step in prepare:
        nodestep(*steps[step])
    ended = nodestep(*arguments)
    assert ended.code in (1, 2, 6, 7)
    assert words in ended.told
    as_json = nodestep(*arguments, "--json")
    assert words in as_json.json["error"]["message"]


def test_what_no_row_knows_stays_as_it_is():
    assert in_commands("Thread 'invoked' waits.") == "Thread 'invoked' waits."
