"""`nodestep history` and `nodestep diff`: what happened, an event a line, and what it changed."""

from __future__ import annotations

import json
import os

import pytest

from nodestep.cli.changes import Change, What, changes, shown_path
from nodestep.engine.replay import record_to_bytes
from nodestep.model.event import RunCompleted, Started, SuperstepCompleted
from nodestep.model.position import Task
from nodestep.stores.base import Holding, New, Status, Write
from nodestep.stores.sqlite import SQLiteStateStore
from tests.stores.writing import done

from .driving import GRAPHS, REFUND, terminal

OWN = ["--store", "a.db"]


@pytest.fixture
def answered(nodestep, asks):
    """A thread that asked, was answered and completed: commits 1 to 5."""
    asks()
    nodestep("answer", *OWN, "--pause", "1", "refund-1", "yes", "--by", "ana")
    assert nodestep("run", REFUND, *OWN, "--thread", "refund-1").code == 0


def told(out):
    """Each row as its id, its type and what else it says."""
    rows = [line.split(maxsplit=4) for line in out.rstrip("\n").split("\n")]
    return [(row[0], row[3], *row[4:]) for row in rows]


def test_every_event_is_a_row_with_its_id(nodestep, answered):
    ended = nodestep("history", "refund-1", *OWN)
    assert (ended.code, ended.err) == (0, "")
    assert told(ended.out) == [
        ("1-1", "run_started", "input payload, answer"),
        ("1-2.0", "superstep_started", "superstep 1: check"),
        ("1-2.1", "node_completed", "check wrote nothing"),
        ("1-2", "superstep_completed", "superstep 1, next: review"),
        ("1-3.0", "superstep_started", "superstep 2: review"),
        ("1-3", "interrupted", "pause 1: review:approve"),
        ("1-4", "answered", 'review:approve = "yes" (text), by ana'),
        ("1-5", "run_started", "goes on"),
        ("1-6.0", "node_completed", "review wrote answer"),
        ("1-6.1", "superstep_completed", "superstep 2, next: nothing"),
        ("1-6", "run_completed"),
    ]


def test_history_gives_everything_to_a_program(nodestep, answered):
    found = nodestep("history", "refund-1", *OWN, "--json").json
    assert (found["thread_id"], found["branch_id"], found["earlier"]) == ("refund-1", "main", None)
    answer = next(event for event in found["events"] if event["type"] == "answered")
    assert answer["data"] == {"answers": {"review:approve": "yes"}, "by": "ana", "note": None, "source": "cli"}
    assert answer["created_at"].endswith("+00:00")


def test_history_is_paged_from_the_end_and_never_cuts_a_commit(nodestep, answered):
    ended = nodestep("history", "refund-1", *OWN, "--limit", "4")
    lines = ended.out.split("\n")
    assert lines[:3] == [
        "Earlier events:",
        "  $ nodestep history --store a.db --limit 4 --before 1-5 refund-1",
        "",
    ]
    assert [row[0] for row in told("\n".join(lines[3:]))] == ["1-5", "1-6.0", "1-6.1", "1-6"]
    page = nodestep("history", "refund-1", *OWN, "--limit", "3", "--json").json
    pages = page["events"]
    while page["earlier"] is not None:
        before = ["--before", page["earlier"]]
        page = nodestep("history", "refund-1", *OWN, "--limit", "3", *before, "--json").json
        pages = page["events"] + pages
    assert pages == nodestep("history", "refund-1", *OWN, "--json").json["events"]


def test_the_events_of_a_fork_begin_with_those_of_its_parent(nodestep, answered):
    nodestep("fork", "refund-1", *OWN, "--from", "1-3", "--name", "other")
    ended = nodestep("history", "refund-1", *OWN, "--branch", "other")
    assert [row[0] for row in told(ended.out)][-3:] == ["1-3.0", "1-3", "2-4"]
    assert told(ended.out)[-1][1:] == ("forked", "from 1-3")


def test_failures_edits_and_cancellations_are_told(nodestep):
    run = ["run", str(GRAPHS / "broken.py"), *OWN, "--thread", "w"]
    nodestep(*run, "--input", '{"message": "no\\u001b[2K such account"}')
    nodestep("edit", str(GRAPHS / "broken.py"), "w", *OWN, "--set", '{"number": 3}')
    nodestep("cancel", "w", *OWN, "--reason", "given\nup")
    rows = told(nodestep("history", "w", *OWN).out)
    assert rows[-3:] == [
        ("1-3", "superstep_failed", r"fails: LookupError: no\x1b[2K such account"),
        ("1-4", "state_updated", "wrote number"),
        ("1-5", "cancelled", r"given\nup"),
    ]


@pytest.mark.parametrize(
    ("arguments", "code"), [(["--limit", "0"], 2), (["--before", "9-9"], 7), (["--before", "x"], 7)]
)
def test_pages_that_there_are_not_are_told(nodestep, answered, arguments, code):
    ended = nodestep("history", "refund-1", *OWN, *arguments)
    assert (ended.code, ended.out) == (code, "")
    assert "await" not in ended.err


def test_at_a_terminal_an_event_takes_one_row(nodestep, asks, tmp_path):
    asks(json.dumps("x" * 500))
    nodestep("answer", *OWN, "--pause", "1", "refund-1", "漢" * 200)
    with terminal("history", "refund-1", *OWN, folder=tmp_path) as seat:
        assert seat.ends() == 0
    rows = seat.screen.rstrip("\n").split("\n")
    assert [row.split()[0] for row in rows] == ["1-1", "1-2.0", "1-2.1", "1-2", "1-3.0", "1-3", "1-4"]
    assert rows[-1].endswith("…")
    assert all(len(row) + row.count("漢") <= 80 for row in rows)


def long_thread(path, commits):
    """A thread of so many commits, written by hand."""
    with SQLiteStateStore(path) as store:
        started = record_to_bytes([Started("r", {"set": {"count": 0}}, (Task("work", "work"),))])
        first = done(store, Write("long", "main", New("work"), Status.RUNNING, started))
        for number in range(2, commits):
            guard = Holding(first.no, first.epoch, number - 1)
            step = record_to_bytes([SuperstepCompleted((Task("work", "work"),), {"set": {"count": number}})])
            done(store, Write("long", "main", guard, Status.RUNNING, step))
        end = record_to_bytes([SuperstepCompleted((), {"set": {"count": commits}}), RunCompleted()])
        done(store, Write("long", "main", Holding(first.no, first.epoch, commits - 1), Status.COMPLETED, end))


def test_pages_of_a_long_history_join_without_a_gap(nodestep, tmp_path):
    long_thread(tmp_path / "a.db", 150)
    every = nodestep("history", "long", *OWN, "--limit", "1000", "--json").json["events"]
    assert [event["sequence"] for event in every if "." not in event["id"]] == list(range(1, 151))
    page = nodestep("history", "long", *OWN, "--json").json
    assert page["events"] == every[-len(page["events"]) :]
    assert 40 < len(page["events"]) <= 50
    nodestep("prune", "long", *OWN, "--keep", "10", "--yes")
    left = nodestep("history", "long", *OWN)
    assert left.out.startswith("What came before was pruned.\n\n")
    pruned = nodestep("history", "long", *OWN, "--json").json
    assert pruned["events"] == every[-len(pruned["events"]) :]


# diff


def test_diff_tells_what_two_events_changed(nodestep, answered):
    ended = nodestep("diff", "refund-1", "1-3", "1-6", *OWN)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == 'thread refund-1, from 1-3 to 1-6: 1 change\n  changed  answer  null -> "yes"\n'
    assert nodestep("diff", "refund-1", "1-3", *OWN).out == ended.out
    back = nodestep("diff", "refund-1", "1-6", "1-3", *OWN)
    assert back.out == 'thread refund-1, from 1-6 to 1-3: 1 change\n  changed  answer  "yes" -> null\n'
    same = nodestep("diff", "refund-1", "1-1", "1-3", *OWN)
    assert (same.code, same.out) == (0, "thread refund-1, from 1-1 to 1-3: nothing changed\n")


def test_diff_gives_the_changes_to_a_program(nodestep, answered):
    found = nodestep("diff", "refund-1", "1-3", "1-6", *OWN, "--json").json
    assert found == {
        "thread_id": "refund-1",
        "from": "1-3",
        "to": "1-6",
        "changes": [{"path": ["answer"], "change": "changed", "before": None, "after": "yes"}],
    }


def test_diff_compares_branches(nodestep, asks):
    asks()
    nodestep("fork", "refund-1", *OWN, "--from", "1-3")
    for branch, value in (("main", "yes"), ("fork-1", "no")):
        nodestep("answer", *OWN, "--branch", branch, "--pause", "1", "refund-1", value)
        assert nodestep("run", REFUND, *OWN, "--thread", "refund-1", "--branch", branch).code == 0
    ends = [
        nodestep("show", "refund-1", *OWN, "--branch", branch, "--json").json["last_event"]
        for branch in ("main", "fork-1")
    ]
    ended = nodestep("diff", "refund-1", *ends, *OWN)
    assert ended.out.endswith('1 change\n  changed  answer  "yes" -> "no"\n')


@pytest.mark.parametrize("events", [("1-9", "1-1"), ("1-1", "7-1"), ("x", "1-1"), ("1-1", "1-1.")])
def test_diff_tells_an_unknown_event_and_where_ids_are(nodestep, answered, events):
    ended = nodestep("diff", "refund-1", *events, *OWN)
    assert (ended.code, ended.out) == (7, "")
    assert "`nodestep history` lists the ids" in ended.told


def test_diff_shows_nothing_harmful(nodestep, asks):
    asks(json.dumps({"a\x1b[2K\rb": 1, "text": "one\ntwo\x1b[2K\n  $ rm -rf\nfour"}))
    nodestep("edit", REFUND, "refund-1", *OWN, "--set", json.dumps({"payload": {"text": "one\nzwei\nfour"}}))
    ended = nodestep("diff", "refund-1", "1-3", "1-4", *OWN)
    assert ended.out == (
        "thread refund-1, from 1-3 to 1-4: 2 changes\n"
        r'  removed  payload["a\u001b[2K\rb"]  1' + "\n"
        "  changed  payload.text\n"
        "    │   one\n"
        r"    │ - two\x1b[2K" + "\n"
        "    │ -   $ rm -rf\n"
        "    │ + zwei\n"
        "    │   four\n"
    )


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({}, {}, []),
        ({"a": 1}, {"a": True}, [Change(("a",), What.CHANGED, 1, True)]),
        ({"a": 1}, {"a": 1.0}, [Change(("a",), What.CHANGED, 1, 1.0)]),
        ({"a": 1}, {"b": 1}, [Change(("a",), What.REMOVED, before=1), Change(("b",), What.ADDED, after=1)]),
        ({"a": None}, {}, [Change(("a",), What.REMOVED)]),
        ({"a": [1, 2]}, {"a": [1, 2, 3]}, [Change(("a", 2), What.ADDED, after=3)]),
        ({"a": [1, 2, 3]}, {"a": [2, 3]}, [Change(("a", 0), What.REMOVED, before=1)]),
        ({"a": [1, 2, 3]}, {"a": [1, 9, 3]}, [Change(("a", 1), What.CHANGED, 2, 9)]),
        ({"a": [{"b": 1}]}, {"a": [{"b": 2}]}, [Change(("a", 0, "b"), What.CHANGED, 1, 2)]),
        ({"a": {"b": 1}}, {"a": [1]}, [Change(("a",), What.CHANGED, {"b": 1}, [1])]),
        ({"a": [1, 1]}, {"a": [1, 1, 1]}, [Change(("a", 2), What.ADDED, after=1)]),
    ],
)
def test_changes_lead_to_the_value_that_differs(before, after, expected):
    assert list(changes(before, after)) == expected


def test_a_path_is_written_as_one_would_write_it():
    assert shown_path(("order", "items", 0, "a b", "c")) == 'order.items[0]["a b"].c'
    assert shown_path(("\x1b[2K",)) == r'["\u001b[2K"]'
    assert shown_path(()) == "the state"


def test_a_change_of_a_long_text_stays_short(nodestep, asks):
    asks(json.dumps("x" * 10_000))
    nodestep("edit", REFUND, "refund-1", *OWN, "--set", json.dumps({"payload": os.linesep.join("y" * 3000)}))
    ended = nodestep("diff", "refund-1", "1-3", "1-4", *OWN)
    assert ended.out.count(" more ") == 2
    assert len(ended.out) < 1500
