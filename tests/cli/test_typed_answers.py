"""Answers on the command line to questions that have a type: the rule is told, and what does not fit is refused."""

from __future__ import annotations

import pytest

from .driving import GRAPHS

TYPED = str(GRAPHS / "typed.py")


@pytest.fixture
def asked(nodestep):
    """Makes a thread whose question takes an answer of a type."""

    def start(kind: str) -> None:
        ended = nodestep("run", TYPED, "--store", "a.db", "--thread", "t", "--input", f'{{"type": "{kind}"}}')
        assert ended.code == 3, ended

    return start


@pytest.mark.parametrize(
    ("kind", "given", "value"),
    [
        ("bool", ["yes"], True),
        ("bool", ["true"], True),
        ("bool", ["N"], False),
        ("bool", ["-j", "false"], False),
        ("whole", ["5"], 5),
        ("number", ["-2.5e3"], -2500.0),
        ("number", ["12"], 12.0),
        ("choice", ["red"], "red"),
        ("numbers", ["3"], 3),
        ("text", ["true"], "true"),
        ("text", ["12"], "12"),
        ("maybe", ["no"], False),
        ("maybe", ["-j", "null"], None),
        ("list", ["[1, 2]"], [1, 2]),
        ("decision", ['{"approved": true}'], {"approved": True, "amount": 80.0, "reason": None}),
        ("decision", ["@decision.json"], {"approved": False, "amount": 1.0, "reason": "x"}),
    ],
)
def test_a_value_is_what_the_question_takes(nodestep, asked, tmp_path, kind, given, value):
    (tmp_path / "decision.json").write_text('{"approved": false, "amount": 1, "reason": "x"}\n')
    asked(kind)
    *options, word = given
    ended = nodestep("answer", "--store", "a.db", "--pause", "1", "t", "--answer", f"review:answer={word}", *options)
    assert ended.code == 0, ended
    state = nodestep("run", TYPED, "--store", "a.db", "--thread", "t", "--json").json["state"]
    assert state["answer"] == value
    assert type(state["answer"]) is type(value)


@pytest.mark.parametrize(
    ("kind", "given", "words"),
    [
        ("bool", ["maybe"], ["review:answer is yes or no"]),
        ("bool", [""], ["yes or no"]),
        ("bool", ["1"], ["yes or no"]),
        ("bool", ["-j", "1"], ["does not fit", "type = 'boolean'"]),
        ("bool", ["-j", '"yes"'], ["does not fit", "type = 'boolean'"]),
        ("whole", ["6"], ["breaks the rule maximum = 5"]),
        ("whole", ["2.5"], ["breaks the rule type = 'integer'"]),
        ("whole", ["many"], ["whole number"]),
        ("number", ["NaN"], ["number"]),
        ("choice", ["1"], ["enum = ['red', 'green']"]),
        ("choice", ["blue"], ["enum = ['red', 'green']"]),
        ("numbers", ["4"], ["one of 3, 2, 1"]),
        ("text", ["too long"], ["maxLength = 5"]),
        ("list", ["1, 2"], ["no JSON"]),
        ("list", ['[1, "a"]'], ["[1]", "type = 'integer'"]),
        ("decision", ["yes"], ["no JSON", "It takes object with approved (yes or no), "]),
        ("decision", ["{}"], ["required = ['approved']"]),
        ("decision", ['{"approved": true, "amount": -1}'], ["['amount']", "minimum = 0"]),
    ],
)
def test_what_does_not_fit_is_refused_with_its_rule(nodestep, asked, kind, given, words):
    asked(kind)
    *options, word = given
    ended = nodestep("answer", "--store", "a.db", "--pause", "1", *options, "t", "review:answer", word)
    assert (ended.code, ended.out) == (6, ""), ended
    for each in (*words, "review:answer", "Nothing was recorded"):
        assert each in ended.told
    assert nodestep("pending", "--store", "a.db", "--json").json["questions"]
    as_json = nodestep("answer", "--store", "a.db", "--pause", "1", *options, "t", "review:answer", word, "--json")
    assert as_json.json["error"]["exit_code"] == 6


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("bool", "takes yes or no"),
        ("whole", "takes whole number, at least 1, at most 5"),
        ("choice", "takes red or green"),
        ("many", "takes a, b, c, d, e, f or 2 more"),
        ("text", "takes text, at most 5 characters"),
        ("maybe", "takes yes or no, or null"),
        ("decimal", "takes number or text"),
        ("list", "takes list of whole number"),
        ("decision", "takes object with approved (yes or no), amount (number, at least 0) and reason (text, or null)"),
    ],
)
def test_a_question_tells_what_it_takes(nodestep, asked, kind, told):
    asked(kind)
    listed = nodestep("pending", "--store", "a.db")
    assert f"\n    {told}" in listed.out
    assert "VALUE is text, or what its question takes; write -j before it for JSON." in listed.out


def test_an_answer_that_the_type_refuses_after_all_is_told_when_it_is_asked_again(nodestep, asked):
    asked("friday")
    assert nodestep("answer", "--store", "a.db", "--pause", "1", "t", "friday").code == 0
    again = nodestep("run", TYPED, "--store", "a.db", "--thread", "t")
    assert again.code == 3
    assert "asks review:answer (pause 2)" in again.out
    assert "the answer before was rejected: the type refused it" in again.out
    shown = nodestep("show", "--store", "a.db", "t")
    assert "the answer before was rejected: the type refused it" in shown.out
    assert 'review:answer = "friday" (text)' in shown.out
    as_json = nodestep("run", TYPED, "--store", "a.db", "--thread", "t", "--json").json
    assert "type refused" in as_json["questions"][0]["rejected"]
    assert "answer_rejected" in nodestep("history", "--store", "a.db", "t").out
    nodestep("answer", "--store", "a.db", "--pause", "2", "t", "monday")
    assert nodestep("run", TYPED, "--store", "a.db", "--thread", "t", "--json").json["state"]["answer"] == "monday"
