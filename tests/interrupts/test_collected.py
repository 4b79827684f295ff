"""Answers collected one by one with `answer()`: recorded without running anything, and checked like any other."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from nodestep import (
    END,
    START,
    Graph,
    GraphConfigError,
    LimitExceededError,
    Resume,
    ResumeError,
    UnknownThreadError,
    interrupt_many,
    node,
)
from tests.asking import refusal


@pytest.fixture
def ran() -> list[str]:
    return []


def waiting(store, ran: list[str]) -> Graph:
    def body(state):
        ran.append("ask")
        return interrupt_many({"a": "A?", "b": "B?", "c": "C?"})

    return Graph(dict, name="waiting", state_store=store).flow(START >> node(body, name="ask") >> END)


@pytest.fixture
def graph(store, ran) -> Graph:
    """Thread `t`, which waits for `ask:a`, `ask:b` and `ask:c`."""
    graph = waiting(store, ran)
    graph.invoke({}, thread_id="t")
    return graph


def answer(on: Any, answers: Any, **options: Any) -> tuple[str, ...]:
    return asyncio.run(on.answer("t", answers, **options))


def open_keys(on: Any) -> list[str]:
    return [asked.key for asked in asyncio.run(on.pending("t")).items]


def test_it_returns_what_is_still_open_and_runs_nothing(graph, ran):
    assert answer(graph, {"ask:b": 2}) == ("ask:a", "ask:c")
    assert answer(graph, {"ask:c": 3, "ask:a": 1}) == ()
    assert ran == ["ask"]
    assert graph.invoke(None, thread_id="t").data == {"a": 1, "b": 2, "c": 3}


def test_a_store_takes_answers_without_the_graph_also_after_a_restart(graph, reopened, ran):
    store = reopened()
    assert answer(store, {"ask:b": 2}) == ("ask:a", "ask:c")
    assert open_keys(store) == ["ask:a", "ask:c"]
    assert answer(reopened(), {"ask:a": 1, "ask:c": 3}) == ()
    assert waiting(reopened(), ran).invoke(None, thread_id="t").data == {"a": 1, "b": 2, "c": 3}


def test_a_resume_names_only_what_is_still_open(graph, store, ran):
    answer(graph, {"ask:b": 2})
    with refusal(store, ResumeError, "'ask:b'", "Open: 'ask:a', 'ask:c'", ran=ran):
        graph.invoke(None, thread_id="t", resume=Resume(answers={"ask:a": 1, "ask:b": "other", "ask:c": 3}))
    done = graph.invoke(None, thread_id="t", resume=Resume(answers={"ask:a": 1, "ask:c": 3}))
    assert done.data == {"a": 1, "b": 2, "c": 3}


def test_a_bare_value_answers_the_last_one_open(graph):
    answer(graph, {"ask:a": 1, "ask:b": 2})
    assert graph.invoke(None, thread_id="t", resume=Resume(3)).data == {"a": 1, "b": 2, "c": 3}


@pytest.mark.parametrize(
    ("answers", "error", "words"),
    [
        ({"ask:d": 1}, ResumeError, ["'ask:d'", "'ask:a', 'ask:b', 'ask:c'"]),
        ({"ask:a": 1, "ask:d": 1}, ResumeError, ["'ask:d'"]),
        ({"ask:a": print}, ResumeError, ["'ask:a'"]),
        ({"ask:a": 1, "ask:b": float("nan")}, LimitExceededError, ["'ask:b'"]),
        ({"ask:a": "x" * (1 << 20)}, LimitExceededError, ["'ask:a'"]),
        ({}, TypeError, ["mapping from question key to value"]),
        (None, TypeError, ["mapping from question key to value"]),
        ("ask:a", TypeError, ["mapping from question key to value"]),
        (Resume(1), TypeError, ["mapping from question key to value"]),
        ([("ask:a", 1)], TypeError, ["mapping from question key to value"]),
    ],
)
@pytest.mark.parametrize("on", ["graph", "store"])
def test_what_does_not_fit_is_refused_as_a_whole(graph, store, ran, answers, error, words, on):
    with refusal(store, error, *words, ran=ran):
        answer(graph if on == "graph" else store, answers)


def test_an_answer_is_given_once(graph, store, ran):
    answer(graph, {"ask:a": "first"})
    with refusal(store, ResumeError, "'ask:a'", ran=ran):
        answer(graph, {"ask:a": "second"})


def test_it_is_bound_to_a_pause_when_it_says_so(graph, store, ran):
    (pause,) = {asked.pause for asked in asyncio.run(graph.pending("t")).items}
    with refusal(store, ResumeError, "'ask:a'", f"pause {pause}", ran=ran):
        answer(graph, {"ask:a": 1}, pause=pause + 1)
    with refusal(store, ResumeError, "'ask:a'", ran=ran):
        answer(graph, {"ask:a": 1, "ask:b": 1}, pause={"ask:a": pause + 1, "ask:b": pause})
    assert answer(graph, {"ask:a": 1}, pause=pause) == ("ask:b", "ask:c")
    assert answer(graph, {"ask:b": 1}, pause={"ask:b": pause}) == ("ask:c",)


def test_the_questions_left_keep_their_pause(graph):
    before = {asked.key: asked.pause for asked in asyncio.run(graph.pending("t")).items}
    answer(graph, {"ask:b": 2})
    left = {asked.key: asked.pause for asked in asyncio.run(graph.pending("t")).items}
    assert left == {key: before[key] for key in ("ask:a", "ask:c")}


def test_who_and_why_is_kept_of_each(graph):
    answer(graph, {"ask:a": 1}, by="ann", note="fine")
    answer(graph, {"ask:b": 2}, by="ben")
    events = [event.data for event in asyncio.run(graph.history("t")).events if event.type == "answered"]
    assert [(data["answers"], data["by"], data["note"]) for data in events] == [
        ({"ask:a": 1}, "ann", "fine"),
        ({"ask:b": 2}, "ben", None),
    ]


@pytest.mark.parametrize("argument", ["by", "note"])
@pytest.mark.parametrize(("value", "error"), [(5, TypeError), ("a\0b", LimitExceededError)])
def test_who_and_why_are_texts_within_the_limits(graph, store, ran, argument, value, error):
    with refusal(store, error, argument, ran=ran):
        answer(graph, {"ask:a": 1}, **{argument: value})


def test_an_unknown_thread_takes_none(store):
    with pytest.raises(UnknownThreadError, match="'t'"):
        answer(store, {"ask:a": 1})


def test_without_a_store_there_is_nobody_to_answer():
    graph = Graph(dict, name="lone").flow(START >> node(lambda state: None, name="n") >> END)
    with pytest.raises(GraphConfigError, match="no store"):
        answer(graph, {"n:a": 1})
