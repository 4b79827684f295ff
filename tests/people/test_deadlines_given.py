"""Deadlines without a default, and what may be given as one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from nodestep import (
    END,
    START,
    Graph,
    GraphExecutionError,
    InterruptExpiredError,
    Resume,
    ResumeError,
    Retry,
    interrupt,
    node,
)
from nodestep.stores.base import Status
from tests.asking import lone, refusal
from tests.history.making import open_keys, told
from tests.running.making import run

HOUR = timedelta(hours=1)


HOUR_MS = 3_600_000


def expiring(store, ran: list[str], **options: Any) -> Graph:
    def asks(state):
        ran.append("ask")
        return {"got": interrupt("?", id="a", expires=HOUR)}

    graph = Graph(dict, name="g", state_store=store).flow(START >> node(asks, name="ask", **options) >> END)
    graph.invoke({}, thread_id="t")
    return graph


def test_without_a_default_the_node_gets_the_error_and_it_is_never_retried(store, clock, ran):
    graph = expiring(store, ran, retry=Retry(max_attempts=5, initial_delay_s=0))
    clock.forward(HOUR_MS)
    with pytest.raises(InterruptExpiredError, match=r"'a'.*'ask'"):
        graph.invoke(None, thread_id="t")
    assert ran == ["ask", "ask"]
    assert told(graph)[-1] == "superstep_failed"
    (kept,) = run(graph.audit("t")).items
    assert (kept.key, kept.value, kept.source) == ("ask:a", None, "expiry")
    assert kept.note == "There was no default."


def test_an_expiry_with_the_default_none_is_told_from_one_without_a_default(store, clock):
    def asks(state):
        return {"got": interrupt("?", id="a", expires=HOUR, default=None)}

    graph = Graph(dict, name="g", state_store=store).flow(START >> node(asks, name="ask") >> END)
    graph.invoke({}, thread_id="t")
    clock.forward(HOUR_MS)
    assert graph.invoke(None, thread_id="t").state == {"got": None}
    (kept,) = run(graph.audit("t")).items
    assert (kept.value, kept.source, kept.note) == (None, "expiry", None)


def test_the_expiry_stays_and_is_recorded_once_however_often_the_thread_is_called(store, clock, ran):
    graph = expiring(store, ran)
    clock.forward(HOUR_MS)
    for _ in range(2):
        with pytest.raises(InterruptExpiredError):
            graph.invoke(None, thread_id="t")
    clock.forward(-2 * HOUR_MS)
    with pytest.raises(InterruptExpiredError):
        graph.invoke(None, thread_id="t")
    assert told(graph).count("expired") == len(run(graph.audit("t")).items) == 1
    with refusal(store, ResumeError, ran=ran):
        graph.invoke(None, thread_id="t", resume=Resume("late"))
    assert run(graph.threads()).items[0].status == Status.FAILED


def test_the_node_may_catch_the_error_and_decide(store, clock):
    def asks(state):
        try:
            return {"got": interrupt("?", id="a", expires=HOUR)}
        except InterruptExpiredError:
            return {"got": interrupt("Somebody else?", id="b")}

    graph = lone(asks, store)
    graph.invoke({}, thread_id="t")
    clock.forward(HOUR_MS)
    assert list(graph.invoke(None, thread_id="t").interrupts) == ["ask:b"]
    assert graph.invoke(None, thread_id="t", resume=Resume("yes")).data == {"got": "yes"}


def test_a_new_turn_after_an_expiry_that_failed_asks_anew(store, clock, ran):
    graph = expiring(store, ran)
    clock.forward(HOUR_MS)
    with pytest.raises(InterruptExpiredError):
        graph.invoke(None, thread_id="t")
    graph.invoke({}, thread_id="t")
    assert open_keys(graph) == ["ask:a"]
    assert graph.invoke(None, thread_id="t", resume=Resume("yes")).data == {"got": "yes"}


def test_an_instant_is_taken_as_one(store, clock):
    at = datetime.fromtimestamp(clock.wall / 1000, UTC) + HOUR
    graph = lone(lambda state: {"got": interrupt("?", id="a", expires=at, default="nobody")}, store)
    assert graph.invoke({}, thread_id="t").interrupts["ask:a"].expires_at == at
    clock.forward(HOUR_MS)
    assert graph.invoke(None, thread_id="t").data == {"got": "nobody"}


@pytest.mark.parametrize("ago", [timedelta(0), -HOUR, timedelta.min])
def test_a_deadline_that_has_passed_pauses_all_the_same_and_is_closed_from_the_start(store, ago):
    graph = lone(lambda state: {"got": interrupt("?", id="a", expires=ago, default="nobody")}, store)
    assert graph.invoke({}, thread_id="t").status == "interrupted"
    assert open_keys(graph) == []
    assert graph.invoke(None, thread_id="t").data == {"got": "nobody"}


@pytest.mark.parametrize("expires", [datetime(2030, 1, 1), 5, "tomorrow", 1.5])  # noqa: DTZ001 - it is the point
def test_what_is_no_duration_and_no_aware_instant_is_refused(store, expires):
    graph = lone(lambda state: {"got": interrupt("?", id="a", expires=expires)}, store)
    with pytest.raises(ValueError, match=r"'a'.*'ask'.*aware"):
        graph.invoke({}, thread_id="t")
    assert open_keys(graph) == []


@pytest.mark.parametrize("expires", [timedelta.max, datetime.max.replace(tzinfo=UTC)])
def test_a_deadline_beyond_every_calendar_is_refused_or_kept_but_never_breaks_what_lists_it(store, expires):
    graph = lone(lambda state: {"got": interrupt("?", id="a", expires=expires, default="nobody")}, store)
    try:
        graph.invoke({}, thread_id="t")
    except (ValueError, GraphExecutionError):
        assert open_keys(graph) == []
    else:
        run(graph.pending("t"))
        run(graph.history("t"))
        run(graph.threads())


def test_a_default_without_a_deadline_is_never_taken(store, clock):
    graph = lone(lambda state: {"got": interrupt("?", id="a", default="nobody")}, store)
    graph.invoke({}, thread_id="t")
    clock.forward(1000 * HOUR_MS)
    assert open_keys(graph) == ["ask:a"]
    with refusal(store, ResumeError, "'ask:a'"):
        graph.invoke(None, thread_id="t")
