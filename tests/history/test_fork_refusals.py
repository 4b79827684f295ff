"""What cannot be forked: names that are taken, and events that are none."""

from __future__ import annotations

from typing import Any

import pytest

from nodestep import (
    END,
    START,
    GraphConfigError,
    LimitExceededError,
    StateStoreError,
    UnknownEventError,
    UnknownThreadError,
)
from nodestep.people.branches import fork
from nodestep.people.upkeep import delete
from tests.history.making import asks, forked, point, untouched
from tests.running.making import of, run, says
from tests.watching import Watched


@pytest.fixture
def graph(store):
    graph = of(START >> says("a") >> asks("ask") >> END, state_store=store)
    graph.invoke({}, thread_id="t")
    graph.invoke({}, thread_id="other")
    return graph


def names(graph) -> list[str]:
    return [made.id for made in run(graph.branches("t"))]


@pytest.mark.parametrize("name", ["main", "taken"])
def test_a_name_that_is_taken_is_refused(graph, store, name):
    forked(graph, "interrupted", name="taken")
    with untouched(store, "main", "taken"), pytest.raises(GraphConfigError, match=rf"'t'.*'{name}'"):
        forked(graph, "interrupted", name=name)
    assert names(graph) == ["main", "taken"]


def test_the_name_may_be_taken_in_another_thread(graph):
    run(graph.fork("other", from_=point(graph, "interrupted", thread="other"), name="same"))
    assert forked(graph, "interrupted", name="same") == "same"


@pytest.mark.parametrize(
    ("name", "error"),
    [("", LimitExceededError), ("x" * 513, LimitExceededError), ("a\0b", LimitExceededError), (5, TypeError)],
)
def test_a_name_that_no_branch_can_have_is_refused(graph, name, error):
    with pytest.raises(error, match="branch_id"):
        forked(graph, "interrupted", name=name)
    assert names(graph) == ["main"]


MALFORMED: list[Any] = [
    "",
    "1",
    "1-",
    "-1",
    "1-1-1",
    "x",
    "1-x",
    "1_1",
    " 1-1",
    "1-1 ",
    "1-1.",
    "1-1.x",
    "main",
    11,
    b"1-1",
]
UNKNOWN = ["1-99", "99-1", "1-0", "0-1", "1-1.0", "1-99.0", f"1-{'9' * 10}", f"{'9' * 18}-1", f"1-{'9' * 99}"]


@pytest.mark.parametrize("ids", [MALFORMED, UNKNOWN], ids=["malformed", "unknown"])
def test_an_event_that_the_thread_does_not_have_is_unknown(graph, store, ids):
    with untouched(store):
        for event in ids:
            for ask in (graph.fork("t", from_=event), graph.load("t", event), graph.get_state("t", event)):
                with pytest.raises(UnknownEventError, match="'t'"):
                    run(ask)
    assert names(graph) == ["main"]


def test_no_event_at_all_is_no_place_to_fork(graph):
    with pytest.raises(UnknownEventError):
        run(graph.fork("t", from_=None))
    assert names(graph) == ["main"]


@pytest.mark.parametrize("event", ["1-02", "1-٢", "1-2.99"])
def test_an_event_is_named_in_one_way_only(graph, event):
    with pytest.raises(UnknownEventError):
        run(graph.fork("t", from_=event))
    assert names(graph) == ["main"]


def test_an_event_of_another_thread_is_unknown(graph):
    foreign = point(graph, "interrupted", thread="other")
    for ask in (graph.fork("t", from_=foreign), graph.load("t", foreign)):
        with pytest.raises(UnknownEventError, match="'t'"):
            run(ask)


def test_an_event_of_a_sibling_branch_is_unknown(graph):
    one, two = forked(graph, "interrupted"), forked(graph, "interrupted")
    foreign = point(graph, "forked", branch=one)
    for branch in ("main", two):
        for ask in (graph.fork("t", from_=foreign, branch_id=branch), graph.load("t", foreign, branch_id=branch)):
            with pytest.raises(UnknownEventError, match=f"'{branch}'"):
                run(ask)


def test_what_the_parent_did_after_the_fork_is_unknown_to_it(graph):
    branch = forked(graph, "superstep_completed")
    later = point(graph, "interrupted")
    with pytest.raises(UnknownEventError, match=f"'{branch}'"):
        run(graph.fork("t", from_=later, branch_id=branch))
    graph.invoke(None, thread_id="t", branch_id=branch)
    with pytest.raises(UnknownEventError, match=f"'{branch}'"):
        run(graph.load("t", later, branch_id=branch))


@pytest.mark.parametrize(("thread", "branch"), [("unknown", "main"), ("t", "unknown")])
def test_a_thread_or_branch_that_is_not_there_is_unknown(graph, thread, branch):
    with pytest.raises(UnknownThreadError, match="'unknown'"):
        run(graph.fork(thread, from_="1-1", branch_id=branch))
    assert names(graph) == ["main"]


def meanwhile(store, does) -> Watched:
    """The store, where somebody else does something just before the first commit."""
    left = [does]

    def first(facts: list[Any]) -> None:
        if left:
            left.pop()()

    return Watched(store, first)


def test_of_two_forks_of_one_name_at_once_one_is_refused(graph, store):
    event = point(graph, "interrupted")
    rival = meanwhile(store, lambda: fork(store, "t", from_=event, name="mine"))
    with pytest.raises(GraphConfigError, match="'mine'"):
        run(graph.fork("t", from_=event, name="mine", state_store=rival))
    assert names(graph) == ["main", "mine"]


def test_two_forks_without_a_name_at_once_get_two_names(graph, store):
    event = point(graph, "interrupted")
    rival = meanwhile(store, lambda: fork(store, "t", from_=event))
    assert run(graph.fork("t", from_=event, state_store=rival)).id == "fork-2"


@pytest.mark.parametrize("name", [None, "mine"])
def test_a_thread_that_is_deleted_while_it_is_forked_is_unknown(graph, store, name):
    commits: list[int] = []

    def deletes(facts: list[Any]) -> None:
        if not commits:
            delete(store, "t")
        commits.append(1)
        if len(commits) > 20:
            raise StateStoreError("it goes round and round")

    event = point(graph, "interrupted")
    with pytest.raises(UnknownThreadError, match="'t'"):
        run(graph.fork("t", from_=event, name=name, state_store=Watched(store, deletes)))
