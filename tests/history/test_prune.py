"""`prune(keep=n)` frees what is older than the newest n supersteps, and nothing that is still needed."""

from __future__ import annotations

from typing import Any

import pytest

from nodestep import END, START, GraphConfigError, NodeContext, Resume, UnknownEventError, UnknownThreadError, interrupt
from tests.history.making import asks, events, open_keys, point, side_by_side, told, untouched
from tests.running.making import Log, does, of, run, says


@pytest.fixture
def graph(store):
    """Thread `t` went through `a`, `b`, `c` and `d`: the commits 1 to 5."""
    graph = of(START >> says("a") >> says("b") >> says("c") >> says("d") >> END, state_store=store)
    graph.invoke({"n": 1}, thread_id="t")
    return graph


def checkpoints(on: Any, branch: str = "main") -> list[str]:
    return list(run(on.history("t", branch_id=branch)).checkpoints)


def test_the_newest_supersteps_stay_readable_at_each_of_their_events(graph):
    before = {at: run(graph.load("t", at)) for at in checkpoints(graph)}
    seen = events(graph)
    run(graph.prune("t", keep=2))
    assert checkpoints(graph) == ["1-4", "1-5"]
    assert [run(graph.load("t", at)) for at in ("1-4", "1-5")] == [before["1-4"], before["1-5"]]
    assert events(graph) == tuple(event for event in seen if event.sequence >= 4)
    assert run(graph.get_state("t")).value == Log(log=["a", "b", "c", "d"], n=1)


def test_a_pruned_event_is_unknown(graph):
    run(graph.prune("t", keep=2))
    for at in ("1-1", "1-2", "1-3", "1-2.0"):
        for ask in (graph.load("t", at), graph.get_state("t", at), graph.fork("t", from_=at)):
            with pytest.raises(UnknownEventError, match="'t'"):
                run(ask)


def test_every_event_that_history_still_tells_can_be_loaded_and_forked_but_those_inside_the_first_commit(graph):
    """An event inside a commit stands for the commit before it, and that of the first one left is pruned."""
    before = {event.id: run(graph.load("t", event.id)) for event in events(graph) if event.sequence > 1}
    run(graph.prune("t", keep=2))
    left = events(graph)
    pruned = [event for event in left if event.sequence == left[0].sequence and "." in event.id]
    assert pruned
    for event in left:
        if event in pruned:
            with pytest.raises(UnknownEventError):
                run(graph.load("t", event.id))
            with pytest.raises(UnknownEventError):
                run(graph.fork("t", from_=event.id))
            continue
        assert run(graph.load("t", event.id)) == before[event.id]
        made = run(graph.fork("t", from_=event.id))
        assert run(graph.load("t", branch_id=made.id)) == before[event.id]
        assert run(graph.branches("t"))[-1] == made


def test_what_a_superstep_wrote_on_top_of_a_pruned_one_is_told_as_before(store):
    graph = side_by_side(says("x"), says("y"), state_store=store)
    graph.invoke({}, thread_id="t")
    seen = {event.id: event for event in events(graph)}
    run(graph.prune("t", keep=1))
    left = events(graph)
    assert left
    assert all(event == seen[event.id] for event in left)
    assert told(graph)[-1] == "run_completed"


def test_the_thread_goes_on_as_if_nothing_had_been_pruned(graph):
    run(graph.prune("t", keep=1))
    assert graph.invoke({}, thread_id="t").state.log == ["a", "b", "c", "d"] * 2
    assert checkpoints(graph)[0] == "1-5"
    assert checkpoints(graph)[-1] == "1-10"


def test_to_keep_more_than_there_is_frees_nothing(graph, store):
    for keep in (4, 5, 10**9):
        with untouched(store):
            run(graph.prune("t", keep=keep))
    assert checkpoints(graph)[0] == "1-1"


@pytest.mark.parametrize("keep", [0, -1, True, 1.5, "2", None])
def test_at_least_one_superstep_is_kept(graph, store, keep):
    with untouched(store), pytest.raises(GraphConfigError, match=r"keep=\.\.\."):
        run(graph.prune("t", keep=keep))


@pytest.mark.parametrize(("thread", "branch"), [("nobody", "main"), ("t", "nobody")])
def test_what_is_not_there_is_unknown(graph, thread, branch):
    with pytest.raises(UnknownThreadError, match="'nobody'"):
        run(graph.prune(thread, keep=1, branch_id=branch))


def test_pruning_twice_and_ever_closer_keeps_the_rest(graph):
    seen = events(graph)
    for keep, first in ((3, 3), (3, 3), (2, 4), (4, 4), (1, 5)):
        run(graph.prune("t", keep=keep))
        assert events(graph) == tuple(event for event in seen if event.sequence >= first)
        assert run(graph.load("t"))["log"] == ["a", "b", "c", "d"]


def test_turns_and_edits_between_the_supersteps_that_stay_are_kept(graph):
    run(graph.update_state("t", {"log": ["edit"]}))
    graph.invoke({"log": ["in"]}, thread_id="t")
    run(graph.prune("t", keep=5))
    assert told(graph).count("state_updated") == 1
    assert run(graph.load("t", point(graph, "state_updated")))["log"] == ["a", "b", "c", "d", "edit"]


def test_a_paused_thread_is_answered_after_it(store):
    def asking(state: Log, ctx: NodeContext):
        ctx.cache["runs"] = ctx.cache.get("runs", 0) + 1
        first = ctx.once("first", lambda: list(state.log))
        return {"log": [f"{first} {ctx.cache['runs']} {interrupt('?', id='ok')} {ctx.idempotency_key}"]}

    def keyed(pruned: bool, thread: str):
        graph = of(START >> says("a") >> says("b") >> does("ask", asking) >> END, state_store=store)
        paused = graph.invoke({}, thread_id=thread).interrupts["ask:ok"]
        if pruned:
            run(graph.prune(thread, keep=1))
        assert run(graph.pending(thread)).items == (paused,)
        assert run(graph.pending(thread)).items[0].pause == paused.pause
        done = graph.invoke(None, thread_id=thread, resume=Resume("yes", pause=paused.pause))
        return [line.rpartition(" ")[0] or line for line in done.state.log]

    assert keyed(True, "t") == keyed(False, "u") == ["a", "b", "['a', 'b'] 2 yes"]


def test_half_collected_answers_and_finished_siblings_are_kept(store, ran):
    graph = side_by_side(asks("x"), asks("y"), says("z", ran), state_store=store)
    graph.invoke({}, thread_id="t")
    run(graph.answer("t", {"x:ok": 1}))
    run(graph.prune("t", keep=1))
    assert open_keys(graph) == ["y:ok"]
    assert graph.invoke(None, thread_id="t", resume=Resume(answers={"y:ok": 2})).state.log == ["a", "x: 1", "y: 2", "z"]
    assert ran == ["z"]


def test_a_half_marked_join_is_kept(store):
    flow = (START >> [says("a"), b := says("b")], b >> asks("ask") >> says("c"), ["a", "c"] >> says("join") >> END)
    graph = of(*flow, state_store=store)
    graph.invoke({}, thread_id="t")
    run(graph.prune("t", keep=1))
    run(graph.update_state("t", {"n": 5}))
    graph.invoke(None, thread_id="t", resume=Resume(1))
    run(graph.prune("t", keep=1))
    assert run(graph.load("t")) == {"log": ["a", "b", "ask: 1", "c", "join"], "n": 5}


def test_the_audit_outlives_it(store):
    graph = of(START >> asks("ask") >> says("a") >> says("b") >> END, state_store=store)
    graph.invoke({}, thread_id="t")
    graph.invoke(None, thread_id="t", resume=Resume("yes", by="ann", note="fine"))
    before = run(graph.audit("t"))
    run(graph.prune("t", keep=1))
    assert "answered" not in told(graph)
    assert run(graph.audit("t")) == before
    assert [(item.value, item.by, item.note) for item in before.items] == [("yes", "ann", "fine")]


def test_it_is_the_same_in_another_process(graph, reopened):
    run(reopened().prune("t", keep=2))
    assert checkpoints(graph) == checkpoints(reopened()) == ["1-4", "1-5"]
    assert run(reopened().load("t")) == run(graph.load("t"))


def test_a_thread_is_pruned_while_a_run_works_on_it(store):
    def prunes(state: Log):
        run(store.prune("t", keep=1))

    graph = of(START >> says("a") >> says("b") >> does("prune", prunes) >> says("z") >> END, state_store=store)
    assert graph.invoke({}, thread_id="t").state.log == ["a", "b", "z"]
    assert checkpoints(graph) == ["1-3", "1-4", "1-5"]
    assert run(graph.load("t"))["log"] == ["a", "b", "z"]


def test_other_threads_are_left_alone(graph, store):
    graph.invoke({}, thread_id="other")
    with untouched(store, thread="other"):
        run(graph.prune("t", keep=1))
