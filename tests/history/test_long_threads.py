"""Threads of more commits than one page of a store holds."""

from __future__ import annotations

import pytest

from nodestep import END, START, Resume
from nodestep.engine.replay import record_to_bytes
from nodestep.model.event import Started, SuperstepCompleted
from nodestep.model.position import Task
from nodestep.stores.base import Holding, New, Receipt, Status, Write
from tests.history.making import asks, open_keys
from tests.running.making import of, run

COMMITS = 1101
DUE = (Task("ask", "ask"),)


@pytest.fixture
def graph(store):
    """Thread `t` has 1,101 commits, each a superstep that wrote its number, and was cut off before `ask`."""
    first = record_to_bytes([Started("run", {"set": {"log": [], "n": 1}}, DUE)])
    (begun,) = store.commit([Write("t", "main", New("Log"), Status.RUNNING, first)])
    assert isinstance(begun, Receipt)
    steps = [record_to_bytes([SuperstepCompleted(DUE, {"set": {"n": n}})]) for n in range(2, COMMITS)]
    steps.append(record_to_bytes([SuperstepCompleted(DUE, {"set": {"n": COMMITS}})]))
    statuses = [Status.RUNNING] * (len(steps) - 1) + [Status.FAILED]
    writes = [
        Write("t", "main", Holding(begun.no, begun.epoch, sequence), status, step)
        for sequence, (status, step) in enumerate(zip(statuses, steps, strict=True), 1)
    ]
    assert all(isinstance(answer, Receipt) for answer in store.commit(writes))
    return of(START >> asks("ask") >> END, state_store=store)


def test_history_tells_every_commit_once_and_in_order(graph):
    history = run(graph.history("t"))
    assert history.checkpoints == tuple(f"1-{number}" for number in range(1, COMMITS + 1))
    assert [event.sequence for event in history.events] == sorted(event.sequence for event in history.events)


@pytest.mark.parametrize("number", [1000, 1001])
def test_any_of_them_is_loaded_and_forked(graph, number):
    assert run(graph.load("t", f"1-{number}"))["n"] == number
    branch = run(graph.fork("t", from_=f"1-{number}")).id
    assert len(run(graph.history("t", branch_id=branch)).checkpoints) == number + 1
    paused = graph.invoke(None, thread_id="t", branch_id=branch)
    assert (paused.state.n, open_keys(graph)) == (number, ["ask:ok"])


@pytest.mark.parametrize("keep", [1, 1000])
def test_the_newest_are_kept_when_it_is_pruned(graph, keep):
    run(graph.prune("t", keep=keep))
    history = run(graph.history("t"))
    assert history.checkpoints == tuple(f"1-{number}" for number in range(COMMITS - keep + 1, COMMITS + 1))
    assert graph.invoke(None, thread_id="t").state.n == COMMITS
    assert graph.invoke(None, thread_id="t", resume=Resume(1)).state.log == ["ask: 1"]
