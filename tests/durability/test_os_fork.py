"""`os.fork` with an open store, between the calls on a thread and in the middle of one: both sides go on, and one has the
effect."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from nodestep import (
    END,
    START,
    Graph,
    InMemoryStateStore,
    LeaseLostError,
    Resume,
    ResumeError,
    SQLiteStateStore,
    ThreadBusyError,
    interrupt,
    node,
)
from tests.persistence.programs.effects import Effects

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform cannot fork")

LEASE_S = 1.0
"""Short, so that no test waits for long until nothing is renewed any more."""


def build(store: Any, effects: Effects, in_node: Callable[[], None] = lambda: None) -> Graph[dict[str, Any]]:
    @node
    def ask(state: dict[str, Any]) -> Any:
        return {"answer": interrupt("?", id="ok")}

    @node
    def act(state: dict[str, Any]) -> None:
        effects.do(f"act:{state['answer']}")
        in_node()

    @node
    def last(state: dict[str, Any]) -> Any:
        return {"last": os.getpid()}

    return Graph(dict, name="fork", state_store=store).flow(START >> ask >> act >> last >> END)


def forked(work: Callable[[], object]) -> int:
    """Run the work in a forked child; returns its process id."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the processes of a test have other threads
        child = os.fork()
    if child == 0:
        signal.alarm(6)
        try:
            work()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return child


def ended(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def paused_then_forked(folder: str, form: str) -> None:
    """Parent and child both resume; the parent has used its pools before."""
    effects = Effects(f"{folder}/effects")
    with SQLiteStateStore(f"{folder}/t.db", lease_s=LEASE_S) as store:
        graph = build(store, effects)
        start(graph, form)

        def resume(who: str) -> str:
            try:
                answer = Resume(who)
                if form == "ainvoke":
                    return asyncio.run(graph.ainvoke(None, thread_id="t", resume=answer)).status
                return graph.invoke(None, thread_id="t", resume=answer).status
            except (ResumeError, ThreadBusyError) as error:
                return type(error).__name__

        child = forked(lambda: effects.do(f"child:{resume('child')}"))
        effects.do(f"parent:{resume('parent')}")
        assert ended(child) == 0
    done = effects.done()
    assert len([what for what in done if what.startswith("act:")]) == 1
    assert len([what for what in done if what.endswith(":completed")]) == 1
    assert len([what for what in done if what.endswith("Error")]) == 1


def start(graph: Graph[dict[str, Any]], form: str) -> None:
    if form == "ainvoke":
        asyncio.run(graph.ainvoke({}, thread_id="t"))
    else:
        graph.invoke({}, thread_id="t")


def forked_in_a_node(folder: str, goes_on: bool) -> None:
    """A node forks. The child ends there, or goes on with the run as its parent does."""
    effects, children = Effects(f"{folder}/effects"), []
    parent = os.getpid()
    with SQLiteStateStore(f"{folder}/t.db") as store:

        def fork() -> None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                child = os.fork()
            if child:
                children.append(child)
            elif not goes_on:
                os._exit(0)

        graph = build(store, effects, fork)
        graph.invoke({}, thread_id="t")
        with suppress(LeaseLostError):
            status = graph.invoke(None, thread_id="t", resume=Resume("yes")).status
            effects.do(f"{'parent' if os.getpid() == parent else 'child'}:{status}")
        if os.getpid() != parent:
            os._exit(0)
        assert ended(children[0]) == 0
    ends = [what for what in effects.done() if what.endswith(":completed")]
    assert len(ends) == 1
    assert goes_on or ends == ["parent:completed"]
    with SQLiteStateStore(f"{folder}/t.db") as store:
        events = [event.type for event in asyncio.run(store.history("t")).events]
        assert events.count("run_completed") == 1
        assert events.count("superstep_completed") == 3


@pytest.mark.parametrize(
    "form",
    [
        "invoke",
        "ainvoke",
    ],
)
def test_of_a_parent_and_its_child_that_resume_one_paused_thread_one_has_the_effect(form, nursery, quick):
    nursery.child(paused_then_forked, str(quick), form)


@pytest.mark.parametrize("goes_on", [False, True], ids=["and ends", "and goes on with the run"])
def test_a_run_goes_on_once_when_its_node_forks_a_child(goes_on, nursery, quick):
    nursery.child(forked_in_a_node, str(quick), goes_on)


def test_a_child_that_is_killed_leaves_its_thread_to_its_parent_at_once(nursery, quick):
    nursery.child(killed_child, str(quick))


def killed_child(folder: str) -> None:
    effects = Effects(f"{folder}/effects")
    with SQLiteStateStore(f"{folder}/t.db", lease_s=LEASE_S) as store:
        graph = build(store, effects)
        graph.invoke({}, thread_id="t")
        dying = build(store, effects, lambda: os._exit(0))
        assert ended(forked(lambda: dying.invoke(None, thread_id="t", resume=Resume("yes")))) == 0
        assert graph.invoke(None, thread_id="t").status == "completed"
    assert effects.done() == ["act:yes", "act:yes"]
    assert Path(folder, "t.db").exists()


def many_children(folder: str) -> None:
    with SQLiteStateStore(f"{folder}/t.db", lease_s=LEASE_S) as store:
        graph = build(store, Effects(f"{folder}/effects"))
        for number in range(60):
            thread = f"t{number}"
            graph.invoke({}, thread_id=thread)
            child = forked(partial(graph.invoke, None, thread_id=thread, resume=Resume(1)))
            assert ended(child) == 0


def test_a_child_goes_on_whenever_it_was_forked(nursery, quick):
    nursery.child(many_children, str(quick))


def children_beside_traffic(folder: str, kind: str) -> None:
    """Other threads of the parent are at work whenever it forks, so a lock may be held by any of them."""
    store: Any = InMemoryStateStore() if kind == "memory" else SQLiteStateStore(f"{folder}/t.db")
    stop = threading.Event()
    with store:
        graph = build(store, Effects(f"{folder}/effects"))

        def traffic(who: int) -> None:
            number = 0
            while not stop.is_set():
                number += 1
                graph.invoke({}, thread_id=f"{who}.{number}")

        threads = [threading.Thread(target=traffic, args=(who,)) for who in range(2)]
        for thread in threads:
            thread.start()
        try:
            for number in range(40):
                work = partial(whole_thread, graph, f"child.{number}")
                assert ended(forked(work)) == 0
        finally:
            stop.set()
            for thread in threads:
                thread.join()


def whole_thread(graph: Graph[dict[str, Any]], name: str) -> None:
    asyncio.run(graph.ainvoke({}, thread_id=name))
    assert graph.invoke(None, thread_id=name, resume=Resume(1)).status == "completed"


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_a_child_goes_on_whatever_the_other_threads_of_its_parent_did(kind, nursery, quick):
    nursery.child(children_beside_traffic, str(quick), kind)
