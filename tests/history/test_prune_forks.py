"""Pruning a thread that was forked: every branch keeps what it stands on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from nodestep import END, START, Resume, UnknownEventError
from nodestep.people.branches import fork
from nodestep.people.upkeep import prune
from tests.history.making import asks, forked, open_keys, point, untouched
from tests.running.making import of, run, says
from tests.watching import Watched


@pytest.fixture
def graph(store):
    """Thread `t` went through `a`, `b`, was answered at `ask`, and went through `c` and `d`."""
    nodes = START >> says("a") >> says("b") >> asks("ask") >> says("c") >> says("d") >> END
    graph = of(nodes, state_store=store)
    graph.invoke({}, thread_id="t")
    graph.invoke(None, thread_id="t", resume=Resume("main"))
    return graph


def log(on: Any, branch: str, at: str | None = None) -> list[str]:
    return run(on.load("t", at, branch_id=branch))["log"]


def finished(graph, branch: str) -> list[str]:
    """The log of a branch that was taken before the answer, when it has come to its end."""
    if not open_keys(graph, branch_id=branch):
        graph.invoke(None, thread_id="t", branch_id=branch)
    return graph.invoke(None, thread_id="t", branch_id=branch, resume=Resume(branch)).state.log


ALL = ["a", "b", "ask: {}", "c", "d"]


def whole(branch: str) -> list[str]:
    return [line.format(branch) for line in ALL]


@pytest.mark.parametrize(("type", "nth"), [("run_started", 0), ("superstep_completed", 0), ("interrupted", 0)])
def test_a_fork_of_a_point_that_is_pruned_goes_on(graph, reopened, type, nth):
    branch = forked(graph, type, nth)
    before = log(graph, branch)
    run(graph.prune("t", keep=1))
    assert log(reopened(), branch) == before
    assert finished(graph, branch) == whole(branch)
    assert log(graph, "main") == whole("main")


def test_a_fork_of_a_fork_at_an_event_of_the_pruned_grandparent_goes_on(graph):
    one = forked(graph, "interrupted")
    two = forked(graph, "superstep_completed", 0, branch=one)
    run(graph.prune("t", keep=1))
    assert finished(graph, two) == whole(two)
    assert finished(graph, one) == whole(one)


def test_what_the_fork_shared_is_gone_from_its_history_and_its_own_events_stay(graph):
    branch = forked(graph, "superstep_completed", 0)
    graph.invoke(None, thread_id="t", branch_id=branch)
    own = [at for at in run(graph.history("t", branch_id=branch)).checkpoints if not at.startswith("1-")]
    states = [log(graph, branch, at) for at in own]
    run(graph.prune("t", keep=1))
    assert run(graph.history("t", branch_id=branch)).checkpoints == tuple(own)
    assert [log(graph, branch, at) for at in own] == states
    with pytest.raises(UnknownEventError):
        log(graph, branch, "1-1")
    assert forked(graph, "forked", branch=branch)


def test_pruning_a_fork_leaves_its_parent_alone(graph, store):
    branch = forked(graph, "superstep_completed", 0)
    finished(graph, branch)
    with untouched(store):
        run(graph.prune("t", keep=1, branch_id=branch))
    history = run(graph.history("t", branch_id=branch))
    assert not any(at.startswith("1-") for at in history.checkpoints)
    assert log(graph, branch) == whole(branch)
    assert log(graph, "main", point(graph, "run_started")) == []
    with pytest.raises(UnknownEventError):
        log(graph, branch, "1-1")


def test_a_fork_that_has_run_less_than_is_kept_loses_nothing(graph):
    branch = forked(graph, "superstep_completed", 0)
    before = run(graph.history("t", branch_id=branch))
    run(graph.prune("t", keep=2, branch_id=branch))
    assert run(graph.history("t", branch_id=branch)) == before


def test_both_pruned_in_either_order_are_whole(graph):
    one, two = forked(graph, "superstep_completed", 0), forked(graph, "superstep_completed", 1)
    for branch in (one, two):
        finished(graph, branch)
    for branch in ("main", one, two, "main"):
        run(graph.prune("t", keep=1, branch_id=branch))
    for branch in ("main", one, two):
        assert log(graph, branch) == whole(branch)
        assert graph.invoke({}, thread_id="t", branch_id=branch).status == "interrupted"


def test_a_fork_is_pruned_down_to_less_than_its_own_forks_need(graph):
    one = forked(graph, "superstep_completed", 0)
    graph.invoke(None, thread_id="t", branch_id=one)
    two = forked(graph, "interrupted", branch=one)
    finished(graph, one)
    run(graph.prune("t", keep=1))
    run(graph.prune("t", keep=1, branch_id=one))
    assert open_keys(graph, branch_id=two) == ["ask:ok"]
    assert finished(graph, two) == whole(two)
    assert log(graph, one) == whole(one)


def test_a_paused_fork_is_answered_after_the_pause_it_came_from_was_pruned(graph):
    branch = forked(graph, "interrupted")
    (asked,) = run(graph.pending("t")).items
    run(graph.prune("t", keep=1))
    assert run(graph.pending("t")).items == (asked,)
    assert run(graph.answer("t", {"ask:ok": branch}, branch_id=branch, pause=asked.pause)) == ()
    assert graph.invoke(None, thread_id="t", branch_id=branch).state.log == whole(branch)


def test_where_a_pruned_thread_stands_it_can_be_forked(graph):
    run(graph.prune("t", keep=1))
    branch = forked(graph, "run_completed")
    assert log(graph, branch) == whole("main")
    assert graph.invoke({}, thread_id="t", branch_id=branch).status == "interrupted"


def test_the_branches_of_a_pruned_thread_still_say_where_they_began(graph):
    forked(graph, "superstep_completed", 0)
    before = run(graph.branches("t"))
    run(graph.prune("t", keep=1))
    assert run(graph.branches("t")) == before


class Meanwhile(Watched):
    """The store, where somebody else does something just before the first cut."""

    def __init__(self, store: Any, does: Callable[[], Any]) -> None:
        super().__init__(store)
        self.left = [does]

    def prune_rows(self, *args: Any) -> bool:
        if self.left:
            self.left.pop()()
        return self.store.prune_rows(*args)


def test_a_fork_made_while_its_thread_is_pruned_keeps_its_footing_and_the_rest_is_freed(graph, store):
    at = point(graph, "superstep_completed", 0)
    prune(Meanwhile(store, lambda: fork(store, "t", from_=at, name="new")), "t", keep=1)
    assert log(graph, "new") == ["a"]
    assert finished(graph, "new") == whole("new")
    assert point(graph, "run_completed") == run(graph.history("t")).checkpoints[0]


def test_a_thread_deleted_while_it_is_pruned_is_gone(graph, store):
    prune(Meanwhile(store, lambda: store.delete_rows("t")), "t", keep=1)
    assert not run(graph.exists("t"))


def test_deleting_a_pruned_thread_drops_its_forks_as_well(graph):
    branch = forked(graph, "interrupted")
    run(graph.prune("t", keep=1))
    run(graph.delete("t"))
    assert not run(graph.exists("t", branch_id=branch))
    assert open_keys(graph, None) == []
