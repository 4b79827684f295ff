"""A pause that was returned is stored."""

from __future__ import annotations

import asyncio

import pytest

from nodestep import END, START, InMemoryStateStore, Resume, SQLiteStateStore, interrupt
from tests.running.making import Log, does, of, run
from tests.watching import Watched

from .children import Child
from .programs.effects import Effects
from .programs.orders import THREAD, build, finish


def ask(state: Log):
    return {"log": [interrupt("?", id="ok")]}


@pytest.mark.parametrize("form", ["invoke", "ainvoke", "stream"])
def test_the_pause_is_committed_before_the_caller_hears_of_it(form):
    store = Watched(InMemoryStateStore())
    graph = of(START >> does("ask", ask) >> END, state_store=store)

    if form == "stream":
        heard = next(event for event in graph.stream({}, stream_mode=[], thread_id="t"))
        keys = list(heard.data.interrupts)
    elif form == "invoke":
        keys = list(graph.invoke({}, thread_id="t").interrupts)
    else:
        keys = list(run(graph.ainvoke({}, thread_id="t")).interrupts)

    assert keys == ["ask:ok"]
    assert store.kinds()[-1] == ["TaskRecorded", "Paused"]
    assert [item.key for item in asyncio.run(graph.pending("t")).items] == ["ask:ok"]


def test_a_pause_outlives_the_process_that_reported_it(tmp_path):
    path, effects = tmp_path / "threads.db", Effects(tmp_path / "effects")
    with Child("orders", path, effects.path, "paused") as child:
        assert child.hears() == "inside"
        child.kill()

    with SQLiteStateStore(path) as store:
        graph = build(store, effects)
        (question,) = run(graph.pending()).items
        assert (question.key, question.payload, question.thread_id) == ("approve:ok", "Approve 42?", THREAD)
        assert finish(graph).log[-1] == "ship"
    assert effects.done().count("offer") == 1


def test_a_pause_holds_no_lease(store):
    graph = of(START >> does("ask", ask) >> END, state_store=store)
    graph.invoke({}, thread_id="t")

    head = store.head("t", "main")
    assert head is not None
    assert not head.live
    assert graph.invoke(None, thread_id="t", resume=Resume(answers={"ask:ok": "x"})).state.log == ["x"]
