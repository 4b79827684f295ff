"""A form at the terminal: the answer is asked for field by field, and what the schema forbids is asked again."""

from __future__ import annotations

import builtins
import re

import pytest
from pydantic import TypeAdapter

from nodestep.cli.form import Form
from nodestep.cli.prompts import LeftOpen
from nodestep.cli.screen import Screen
from nodestep.cli.typed import Unanswerable
from nodestep.people import history, inbox
from nodestep.stores.sqlite import SQLiteStateStore

from .driving import GRAPHS, terminal
from .graphs.typed import TYPES

TYPED = str(GRAPHS / "typed.py")
ANSWER = ["answer", "--store", "a.db", "t"]


@pytest.fixture
def fill(monkeypatch, capsys):
    """Fills a form in with these lines; returns the value, and everything that stood on the screen."""

    def filled(schema, *lines):
        left = list(lines)

        def typed(prompt=""):
            print(prompt, end="")
            if not left:
                raise EOFError
            print(left[0])
            return left.pop(0)

        monkeypatch.setattr(builtins, "input", typed)
        schema = schema if isinstance(schema, dict) else TypeAdapter(TYPES[schema]).json_schema()
        value = Form(Screen(), schema).ask("")
        assert left == [], "more was typed than asked for"
        return value, capsys.readouterr().out

    return filled


@pytest.mark.parametrize(
    ("schema", "lines", "value"),
    [
        ("bool", ["y"], True),
        ("bool", ["false"], False),
        ("bool", ["maybe", "1", "-j 1", "YES"], True),
        ("whole", ["6", "0", "x", "2.5", "5"], 5),
        ("number", ["nan", "1e3"], 1000.0),
        ("choice", ["blue", "red"], "red"),
        ("choice", ["2"], "green"),
        ("choice", ["0", "3", "red"], "red"),
        ("numbers", ["4", "2"], 2),
        ("many", ["8"], "h"),
        ("text", ["123456", "12345"], "12345"),
        ("text", ['-j ""'], ""),
        ("maybe", ["-j null"], None),
        ("decimal", ["12.50"], 12.5),
        ("decimal", ['-j "12.50"'], "12.50"),
        ("list", ["1", "x", "2", ""], [1, 2]),
        ("list", [""], []),
        ("decision", ["yes", "", ""], {"approved": True}),
        ("decision", ["no", "-1", "12.5", "too late"], {"approved": False, "amount": 12.5, "reason": "too late"}),
        ("tree", ["a", "y", "y", "b", "n", "n"], {"name": "a", "children": [{"name": "b"}]}),
    ],
)
def test_a_form_gives_a_value_of_the_schema(fill, schema, lines, value):
    filled, _ = fill(schema, *lines)
    assert filled == value
    assert type(filled) is type(value)


def test_a_form_shows_each_field_with_what_it_takes(fill):
    value, screen = fill("decision", "yes", "-5", "", "")
    assert value == {"approved": True}
    assert screen == (
        "Field by field; -j before a value gives it as JSON.\n"
        "  approved (yes or no, needed): yes\n"
        "  amount (number, at least 0, else 80.0): -5\n"
        "error: amount breaks the rule minimum = 0.\n"
        "  amount (number, at least 0, else 80.0): \n"
        "  reason (text, or null, else null): \n"
    )


def test_nested_objects_variants_maps_and_lists_are_asked_for(fill):
    lines = [
        *("large", "", "Main St", "123", "12345"),
        *("y", "Side St", "99999", "n"),
        *("x", "2", "DE1"),
        *("cpu", "4", ""),
        *("3", "here"),
        *("n", "y", "a", "b", "7", ""),
    ]
    value, screen = fill("everything", *lines)
    assert value == {
        "size": "large",
        "until": None,
        "address": {"street": "Main St", "zip": "12345"},
        "stops": [{"street": "Side St", "zip": "99999"}],
        "pay": {"kind": "transfer", "iban": "DE1"},
        "limits": {"cpu": 4},
        "place": [3, "here"],
        "tags": ["a", "b"],
        "count": 7,
    }
    TypeAdapter(TYPES["everything"]).validate_python(value, strict=False)
    assert "  │ Five digits.\n" in screen
    assert "    1  Card: object with number and kind\n    2  Transfer: object with iban and kind\n" in screen


def test_a_needed_field_cannot_be_left_out_but_the_question_can(fill):
    value, screen = fill("decision", "", "n", "yes", "", "")
    assert value == {"approved": True}
    assert 'approved is needed (-j "" is empty text). Leave the question open? [y/N] ' in screen
    with pytest.raises(LeftOpen):
        fill("decision", "", "y")


def test_an_empty_line_at_a_lone_value_leaves_the_question_open(fill):
    with pytest.raises(LeftOpen):
        fill("bool", "")


@pytest.mark.parametrize("lines", [[], ["yes"], ["yes", "1"]])
def test_the_end_of_input_ends_the_form(fill, lines):
    with pytest.raises(EOFError):
        fill("decision", *lines)


def test_what_the_schema_says_of_the_whole_is_checked_and_asked_again(fill):
    schema = {
        "type": "object",
        "properties": {"low": {"type": "integer"}, "high": {"type": "integer"}},
        "minProperties": 1,
    }
    value, screen = fill(schema, "", "", "1", "")
    assert value == {"low": 1}
    assert "error: Answer breaks the rule minProperties = 1.\n" in screen


def test_names_and_descriptions_of_a_schema_cannot_forge_the_screen(fill):
    evil = "\x1b[2K\rrecorded  x = yes\u202e"
    schema = {
        "type": "object",
        "properties": {
            evil: {"type": "string", "description": evil, "pattern": re.escape(evil), "default": evil, "format": evil},
            "pick": {"enum": [evil, *map(str, range(50))]},
        },
        "required": ["pick"],
    }
    value, screen = fill(schema, "1", "")
    assert value == {"pick": "1"}
    assert all(line.isprintable() for line in screen.split("\n"))
    assert not any(line.startswith("recorded") for line in screen.split("\n"))


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}},
        {"$ref": "https://example.com/schema.json"},
        {"anyOf": [{"$ref": "#"}]},
        {"not": {"type": "string"}},
        {"type": "object", "patternProperties": {"^a": {"type": "integer"}}},
        {"type": "object"},
        {"type": ["integer", "object"]},
    ],
)
def test_a_schema_that_cannot_be_taken_apart_is_asked_for_as_json(fill, schema):
    with pytest.raises((LeftOpen, EOFError)):
        fill(schema, "")


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "pattern": "["},
        {"type": "object", "properties": {"a": {"type": "nowhere"}}},
        {"$ref": "https://example.com/schema.json"},
    ],
)
def test_a_broken_schema_takes_no_answer_and_says_so(fill, schema):
    with pytest.raises(Unanswerable, match="No answer can be recorded: its question's answer schema"):
        fill(schema, "1")


def test_at_a_terminal_the_whole_answer_is_shown_before_it_is_recorded(nodestep, tmp_path):
    nodestep("run", TYPED, "--store", "a.db", "--thread", "t", "--input", '{"type": "decision"}')
    with terminal(*ANSWER, folder=tmp_path) as seat:
        seat.sees("asks review:answer (pause 1)")
        seat.sees("approved (yes or no, needed): ")
        seat.types("maybe")
        seat.sees('error: approved is yes or no, not "maybe".')
        seat.sees("approved (yes or no, needed): ")
        seat.types("y")
        seat.sees("amount (number, at least 0, else 80.0): ")
        seat.types("")
        seat.sees("reason (")
        seat.types("late")
        seat.sees('│ {\n    │   "approved": true,\n    │   "reason": "late"\n    │ }\n')
        seat.sees("Send this answer? [Y/n] ")
        seat.types("n")
        seat.sees("approved (yes or no, needed): ")
        seat.types("n")
        seat.sees("amount (")
        seat.types("5")
        seat.sees("reason (")
        seat.types("")
        seat.sees("Send this answer? [Y/n] ")
        seat.types("")
        seat.sees('recorded  review:answer = {"approved": false, "amount": 5} (JSON object)')
        assert seat.ends() == 0
    done = nodestep("run", TYPED, "--store", "a.db", "--thread", "t", "--json")
    assert done.json["state"]["answer"] == {"approved": False, "amount": 5.0, "reason": None}


def test_leaving_a_form_records_nothing(nodestep, tmp_path):
    nodestep("run", TYPED, "--store", "a.db", "--thread", "t", "--input", '{"type": "decision"}')
    with terminal(*ANSWER, folder=tmp_path) as seat:
        seat.sees("approved (yes or no, needed): ")
        seat.types("y")
        seat.sees("amount (")
        seat.presses(b"\x04")
        seat.sees("Nothing was recorded.")
        assert seat.ends() == 3
    with terminal(*ANSWER, folder=tmp_path) as seat:
        seat.sees("approved (yes or no, needed): ")
        seat.stops()
        seat.sees("Stopped from the keyboard. Nothing was recorded.")
        assert seat.ends() == 130
    with SQLiteStateStore(tmp_path / "a.db") as store:
        assert [question.key for question in inbox.pending(store, "t").items] == ["review:answer"]


def test_a_run_asks_in_the_same_way_and_tells_why_an_answer_was_rejected(tmp_path):
    run = ["run", TYPED, "--store", "a.db", "--thread", "t", "--input", '{"type": "friday"}']
    with terminal(*run, folder=tmp_path) as seat:
        seat.sees("Answer (text): ")
        seat.types("friday")
        seat.sees("[Y/n] ")
        seat.types("")
        seat.sees("asks review:answer (pause 2)")
        seat.sees("the answer before was rejected: the type refused it")
        seat.sees("Answer (text): ")
        seat.types("monday")
        seat.sees("[Y/n] ")
        seat.types("")
        seat.sees("completed  thread t")
        assert seat.ends() == 0
    with SQLiteStateStore(tmp_path / "a.db") as store:
        assert history.load(store, "t")["answer"] == "monday"
