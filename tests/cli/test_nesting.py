"""Graphs inside graphs, as the command line shows them."""

from __future__ import annotations

import pytest

from .driving import GRAPHS

NESTED = str(GRAPHS / "nested.py")
OWN = ["--store", "a.db"]
KEY = "review/sign off/ask:verdict"


@pytest.fixture
def paused(nodestep):
    ended = nodestep("run", NESTED, *OWN, "--thread", "t", "--input", "{}")
    assert ended.code == 3
    return ended


def rows(out):
    """The events as their ids, types, and what else they say."""
    split = [line.split(maxsplit=4) for line in out.rstrip("\n").split("\n")]
    return [(row[0], row[3], *row[4:]) for row in split]


def test_a_run_tells_the_steps_inside_with_their_path(nodestep, paused):
    nodestep("answer", *OWN, "--pause", "1", "t", KEY, "yes")
    ended = nodestep("run", NESTED, *OWN, "--thread", "t")

    assert "step 0  count" in paused.err
    assert "step 0  review/polish" in paused.err
    steps = [line.split(maxsplit=2)[2] for line in ended.err.splitlines()]
    assert steps == ['"review/sign off/ask"', '"review/sign off"', "review", "publish"]


def test_a_question_inside_is_listed_and_answered_by_its_whole_key(nodestep, paused):
    listed = nodestep("pending", *OWN)
    assert f'asks "{KEY}" (pause 1' in listed.out
    assert f"nodestep answer --store a.db --pause 1 t '{KEY}' VALUE" in listed.out

    wrong = nodestep("answer", *OWN, "--pause", "1", "t", "ask:verdict", "yes")
    assert wrong.code != 0
    assert KEY in wrong.err

    assert nodestep("answer", *OWN, "--pause", "1", "t", KEY, "yes").code == 0
    assert nodestep("run", NESTED, *OWN, "--thread", "t").code == 0


def test_show_tells_what_waits_inside_what(nodestep, paused):
    told = nodestep("show", "t", *OWN)

    assert [line.split(maxsplit=1) for line in told.out.split("Due:\n")[1].split("\n\n")[0].splitlines()] == [
        ["review", "inside"],
        ['"review/sign', 'off"      inside'],
        ['"review/sign', f'off/ask"  asks "{KEY}"'],
    ]


def test_show_draws_where_the_thread_stands_inside(nodestep, paused):
    told = nodestep("show", "t", *OWN, "--target", NESTED)

    drawing = told.out.split("where the thread stands in it:\n")[1].split("\n\nQuestions")[0]
    assert drawing == (
        """\
  START ──> count ──> review ◄ inside ──> publish ──> END

  review:
    START ──> polish ──> sign off ◄ inside ──> END

    sign off:
      START ──> ask ◄ asks ──> END"""
    )


def test_show_gives_the_paths_to_a_program(nodestep, paused):
    told = nodestep("show", "t", *OWN, "--target", NESTED, "--json").json

    assert [(task["path"], task["task_id"], task["wait"]) for task in told["tasks"]] == [
        ("", "review", "inside"),
        ("review", "sign off", "inside"),
        ("review/sign off", "ask", "asks"),
    ]
    assert told["standing"]["review/sign off/ask"] == "asks"


def test_history_tells_inner_events_with_their_path(nodestep, paused):
    assert rows(nodestep("history", "t", *OWN).out)[4:] == [
        ("1-3.0", "superstep_started", "superstep 2: review"),
        ("1-3.1", "superstep_started", "review: superstep 1: polish"),
        ("1-3.2", "node_completed", "review/polish wrote log"),
        ("1-3", "superstep_completed", 'review: superstep 1, next: "sign off"'),
        ("1-4.0", "superstep_started", 'review: superstep 2: "sign off"'),
        ("1-4.1", "superstep_started", '"review/sign off": superstep 1: ask'),
        ("1-4", "interrupted", f'pause 1: "{KEY}"'),
    ]
    events = nodestep("history", "t", *OWN, "--json").json["events"]
    assert {event["path"] for event in events} == {"", "review", "review/sign off"}


def test_draw_shows_each_inner_graph_below(nodestep):
    told = nodestep("draw", NESTED)

    assert told.out.endswith(
        "review:\n  START ──> polish ──> sign off ──> END\n\n  sign off:\n    START ──> ask ──> END\n"
    )
    assert "subgraph n_review" in nodestep("draw", NESTED, "--format", "mermaid").out


def test_a_fork_inside_is_answered_on_its_own(nodestep, paused):
    assert nodestep("fork", "t", *OWN, "--from", "1-4", "--name", "again").code == 0
    pause = nodestep("pending", *OWN, "--json").json["questions"]
    assert {(question["branch_id"], question["key"]) for question in pause} == {("main", KEY), ("again", KEY)}
