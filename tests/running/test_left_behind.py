"""A plain node past its timeout is left behind: what it does from then on counts no more."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from nodestep import END, START, NodeContext, NodeTimeoutError, Retry, interrupt

from .making import Log, does, of, soon


@pytest.fixture
def release():
    """Lets a node go that was left behind."""
    event = threading.Event()
    yield event
    event.set()


@pytest.mark.parametrize("what", ["emit", "once", "cache", "interrupt"])
def test_the_context_of_a_node_left_behind_refuses_everything_that_would_be_recorded(what, release, store):
    met: list[BaseException] = []
    over = threading.Event()
    uses: dict[str, Any] = {
        "emit": lambda ctx: ctx.emit("late"),
        "once": lambda ctx: ctx.once("late", lambda: 1),
        "cache": lambda ctx: ctx.cache,
        "interrupt": lambda ctx: interrupt("late?", id="late"),
    }

    def slow(state: Log, ctx: NodeContext):
        soon(release)
        try:
            uses[what](ctx)
        except BaseException as error:
            met.append(error)
        finally:
            over.set()

    graph = of(START >> does("slow", slow, timeout=0.02) >> END, state_store=store)
    with pytest.raises(NodeTimeoutError):
        graph.invoke({}, thread_id="t")
    before = store.read("t", "main")
    release.set()
    soon(over)

    assert [type(error) for error in met] == [RuntimeError]
    assert what in str(met[0])
    assert store.read("t", "main") == before


def test_a_call_that_was_inside_once_at_the_limit_records_nothing(release, store):
    over = threading.Event()
    met: list[BaseException] = []

    def slow(state: Log, ctx: NodeContext):
        try:
            ctx.once("pay", lambda: soon(release))
        except BaseException as error:
            met.append(error)
        finally:
            over.set()

    graph = of(START >> does("slow", slow, timeout=0.02) >> END, state_store=store)
    with pytest.raises(NodeTimeoutError):
        graph.invoke({}, thread_id="t")
    before = store.read("t", "main")
    release.set()
    soon(over)

    assert [type(error) for error in met] == [RuntimeError]
    assert store.read("t", "main") == before


def test_a_try_that_is_left_behind_counts_no_more_and_the_node_is_tried_again(release, store):
    over = threading.Event()
    met: list[BaseException] = []

    def slow_once(state: Log, ctx: NodeContext):
        number = ctx.attempt
        if number == 1:
            soon(release)
            try:
                ctx.once("late", lambda: 1)
            except RuntimeError as error:
                met.append(error)
            finally:
                over.set()
        return {"n": number}

    retry = Retry(2, initial_delay_s=0)
    graph = of(START >> does("slow", slow_once, timeout=0.05, retry=retry) >> END, state_store=store)
    assert graph.invoke({}, thread_id="t").state.n == 2
    before = store.read("t", "main")
    release.set()
    soon(over)

    assert len(met) == 1
    assert store.read("t", "main") == before
