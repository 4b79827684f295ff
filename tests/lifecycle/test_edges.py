"""Beside the lifecycle table: calls without a store, and a superstep whose updates cannot merge."""

from __future__ import annotations

import asyncio

import pytest

from nodestep import END, START, Graph, GraphConfigError, InvalidUpdateError, Resume, ResumeError, node
from tests.asking import refusal
from tests.lifecycle.standing import FORMS

FORM = pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)


@FORM
@pytest.mark.parametrize(
    ("given", "options", "word"),
    [
        (None, {}, "continuing"),
        (None, {"resume": Resume(1)}, "resume="),
        ({}, {"branch_id": "side"}, "branch"),
    ],
    ids=["going on", "resuming", "a branch"],
)
def test_without_a_store_only_a_first_turn_on_main_is_possible(form, given, options, word):
    ran: list[str] = []
    graph = Graph(dict, name="lone").flow(START >> node(lambda state: ran.append("n"), name="n") >> END)
    with pytest.raises(GraphConfigError, match=rf"'lone' has no store.*{word}.*state_store="):
        form(graph, given, **options)
    assert ran == []


@pytest.mark.parametrize("ask", ["answer", "pending", "history", "load", "exists", "get_state"])
def test_without_a_store_there_are_no_threads_to_ask_for(ask):
    graph = Graph(dict, name="lone").flow(START >> node(lambda state: None, name="n") >> END)
    args = ("t", {"n:a": 1}) if ask == "answer" else ("t",)
    with pytest.raises(GraphConfigError, match=r"'lone' has no store.*state_store="):
        asyncio.run(getattr(graph, ask)(*args))


@pytest.fixture
def ran() -> list[str]:
    return []


@pytest.fixture
def conflicting(store, ran) -> Graph:
    """A thread `t` whose superstep wrote one field twice."""

    def writing(name: str):
        def write(state):
            ran.append(name)
            return {"owner": name} if state.get("agree") is None else {name: True}

        return node(write, name=name)

    left, right = writing("left"), writing("right")
    graph = Graph(dict, name="clash", state_store=store).flow(
        START >> node(lambda state: None, name="start") >> [left, right], left >> END, right >> END
    )
    with pytest.raises(InvalidUpdateError) as failed:
        graph.invoke({}, thread_id="t")
    assert (failed.value.field, failed.value.nodes) == ("owner", ("left", "right"))
    return graph


@FORM
def test_a_merge_conflict_cannot_be_gone_on_with(conflicting, store, ran, form):
    with refusal(store, ResumeError, "'t'", "'left', 'right'", "'owner'", "new input", ran=ran):
        form(conflicting, None, thread_id="t")


def test_a_merge_conflict_takes_no_answer(conflicting, store, ran):
    with refusal(store, ResumeError, "'t'", ran=ran):
        conflicting.invoke(None, thread_id="t", resume=Resume(1))


def test_a_merge_conflict_takes_a_new_input(conflicting):
    done = conflicting.invoke({"agree": True}, thread_id="t")
    assert done.data == {"agree": True, "left": True, "right": True}


def test_a_merge_conflict_of_an_earlier_turn_is_forgotten(conflicting, store):
    conflicting.invoke({"agree": True}, thread_id="t")
    with refusal(store, ResumeError, "completed"):
        conflicting.invoke(None, thread_id="t")
