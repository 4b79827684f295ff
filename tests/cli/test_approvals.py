"""Tool calls that wait for approval: shown as what will run, and decided about in words that are checked."""

from __future__ import annotations

import pytest

from nodestep.people import history, inbox
from nodestep.stores.sqlite import SQLiteStateStore

from .driving import GRAPHS, terminal

AGENT = str(GRAPHS / "agent.py")
KEY = "act:approve_call_1"


@pytest.fixture
def waits(nodestep):
    """A thread whose call waits for a decision."""
    assert nodestep("run", AGENT, "--store", "a.db", "--thread", "t", "--input", "{}").code == 3


def content(folder) -> str:
    with SQLiteStateStore(folder / "a.db") as store:
        return history.load(store, "t")["messages"][0]["content"]


def is_open(folder) -> bool:
    with SQLiteStateStore(folder / "a.db") as store:
        return bool(inbox.pending(store, "t").items)


def test_pending_shows_the_tool_and_what_will_run(nodestep, waits):
    assert nodestep("pending", "--store", "a.db").out == (
        "1 question is open in a.db.\n"
        "\n"
        "thread t, of graph desk\n"
        f"  asks {KEY} (pause 1, asked just now)\n"
        "    tool refund, call call_1, would run with\n"
        "    │ {\n"
        '    │   "amount": 120.0,\n'
        '    │   "note": ""\n'
        "    │ }\n"
        f"    $ nodestep answer --store a.db --pause 1 t {KEY} DECISION\n"
        "\n"
        "DECISION is approve, 'deny: REASON', or 'edit {...}' with the arguments to change, in JSON.\n"
    )


@pytest.mark.parametrize(
    ("decision", "told"),
    [
        (["approve"], '{"result":"refunded 120.0"}'),
        (["Approve"], '{"result":"refunded 120.0"}'),
        (['edit {"amount": 50, "note": "half"}'], '{"result":"refunded 50.0 half"}'),
        (["edit {}"], '{"result":"refunded 120.0"}'),
        (["deny: too much"], "Tool error: ToolDeniedError: Tool 'refund' was not run. too much"),
        (["deny too much"], "Tool error: ToolDeniedError: Tool 'refund' was not run. too much"),
        (["deny"], "Tool error: ToolDeniedError: Tool 'refund' was not run. A person denied the call."),
        (["-j", "true"], '{"result":"refunded 120.0"}'),
        (["-j", '{"action": "edit", "arguments": {"amount": 50}}'], '{"result":"refunded 50.0"}'),
        (
            ["-j", '{"action": "deny"}'],
            "Tool error: ToolDeniedError: Tool 'refund' was not run. A person denied the call.",
        ),
    ],
)
def test_a_decision_is_taken_in_words_or_as_json(nodestep, waits, tmp_path, decision, told):
    options, word = decision[:-1], decision[-1]
    ended = nodestep("answer", "--store", "a.db", "--pause", "1", *options, "t", KEY, word)
    assert ended.code == 0, ended
    assert nodestep("run", AGENT, "--store", "a.db", "--thread", "t").code == 0
    assert content(tmp_path) == told


@pytest.mark.parametrize(
    ("decision", "why"),
    [
        (["yes"], 'is no decision: "yes" (text)'),
        (["approve please"], "is no decision"),
        (["approved"], "is no decision"),
        (["edit"], "is no decision"),
        (["edit amount=50"], "is no JSON"),
        (["edit [50]"], "are no JSON object"),
        (['edit {"amuont": 50}'], "Did you mean 'amount'? Nothing"),
        (["-j", "1"], "is no decision: 1 (JSON number)"),
        (["-j", "false"], "is no decision"),
        (["-j", '{"approved": true}'], "is no decision"),
        (["-j", '{"action": "edit"}'], "an edit without arguments"),
        (["-j", '{"action": "edit", "arguments": {"to": "me"}}'], "gives the argument to"),
        (["-j", '{"action": "approve", "arguments": {"amount": 1}}'], "which only an edit may"),
    ],
)
def test_what_is_no_decision_is_refused_and_nothing_is_recorded(nodestep, waits, tmp_path, decision, why):
    options, word = decision[:-1], decision[-1]
    ended = nodestep("answer", "--store", "a.db", "--pause", "1", *options, "t", KEY, word)
    assert ended.code in (2, 6)
    assert why in ended.told
    assert is_open(tmp_path)


def test_a_decision_typed_at_the_terminal_shows_what_will_run(tmp_path):
    with terminal("run", AGENT, "--store", "a.db", "--thread", "t", "--input", "{}", folder=tmp_path) as seat:
        seat.sees("    tool refund, call call_1, would run with\n")
        seat.sees("    Decision (approve, deny: REASON, edit {...}): ")
        seat.types("yes")
        seat.sees("is no decision")
        seat.sees("    Decision (approve, deny: REASON, edit {...}): ")
        seat.types('edit {"amount": 50}')
        seat.sees('    refund runs with\n    │ {\n    │   "amount": 50,\n    │   "note": ""\n    │ }\n')
        seat.sees("    Send this decision? [Y/n] ")
        seat.types("n")
        seat.sees("    Decision (approve, deny: REASON, edit {...}): ")
        seat.types("deny: not today")
        seat.sees('    refund does not run; the model is told "not today" (text)\n')
        seat.sees("    Send this decision? [Y/n] ")
        seat.types("")
        seat.sees("completed  thread t\n")
        assert seat.ends() == 0
    assert content(tmp_path).endswith("was not run. not today")


def test_an_answer_without_its_pause_is_shown_as_what_will_run(nodestep, waits, tmp_path):
    with terminal("answer", "--store", "a.db", "t", KEY, "approve", folder=tmp_path) as seat:
        seat.sees('    refund runs with\n    │ {\n    │   "amount": 120.0,\n')
        seat.sees("Record this answer? [y/N] ")
        seat.types("y")
        assert seat.ends() == 0
    assert not is_open(tmp_path)


def test_an_empty_line_leaves_the_call_open(nodestep, waits, tmp_path):
    with terminal("answer", "--store", "a.db", "t", folder=tmp_path) as seat:
        seat.sees("Decision (approve, deny: REASON, edit {...}): ")
        seat.types("")
        seat.sees("Nothing was recorded.")
        assert seat.ends() == 3
    assert is_open(tmp_path)
