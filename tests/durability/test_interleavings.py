"""Every order in which the store operations of two callers can come: one wins, the other is told, nothing is in between."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import pytest

from nodestep import (
    END,
    START,
    Graph,
    InMemoryStateStore,
    Resume,
    SQLiteStateStore,
    UnknownThreadError,
    interrupt,
    node,
)
from nodestep.threads import Threads
from tests.durability.racing import REFUSED
from tests.durability.stage import Act, Instant, at_once, every_order, play
from tests.stores.writing import StillClock

T = "t"
WHO = ("anna", "ben", "cleo")
STOPPED = {"LeaseLostError", "ThreadCancelledError"}
"""What a run hears whose thread was cancelled or deleted under it."""


class Scene:
    """A thread that waits for an answer, and has an effect with it."""

    def __init__(self, store: Any) -> None:
        self.store = store
        self.effects: list[str] = []
        self.graph.invoke({}, thread_id=T)

    @property
    def graph(self) -> Graph[dict[str, Any]]:
        """The graph of another process: nothing but the store is shared."""

        @node
        def ask(state: dict[str, Any]) -> Any:
            return {"answer": interrupt("?", id="ok")}

        @node
        def act(state: dict[str, Any]) -> None:
            self.effects.append(state["answer"])

        return Graph(dict, name="scene", state_store=self.store).flow(START >> ask >> act >> END)

    @property
    def decisions(self) -> list[str]:
        return [item.value for item in asyncio.run(self.store.audit(T)).items]

    @property
    def types(self) -> list[str]:
        return [event.type for event in asyncio.run(self.store.history(T)).events]

    def status(self) -> str | None:
        head = self.store.head(T, "main")
        return None if head is None else str(head.status)

    # what callers do

    def resume(self, who: str) -> Act:
        return lambda store: self.graph.invoke(None, thread_id=T, resume=Resume(who), state_store=store).status

    def answer(self, who: str) -> Act:
        def act(store: Any) -> str:
            asyncio.run(self.graph.answer(T, {"ask:ok": who}, state_store=store))
            return "recorded"

        return act

    def go(self, _: str) -> Act:
        return lambda store: self.graph.invoke(None, thread_id=T, state_store=store).status

    def turn(self, who: str) -> Act:
        return lambda store: self.graph.invoke({"turn": who}, thread_id=T, state_store=store).status

    def edit(self, who: str) -> Act:
        def act(store: Any) -> str:
            asyncio.run(self.graph.update_state(T, {"edited": who}, state_store=store))
            return "edited"

        return act

    def cancel(self, _: str) -> Act:
        def act(store: Any) -> str:
            asyncio.run(self.graph.cancel(T, state_store=store))
            return "cancelled"

        return act

    def delete(self, _: str) -> Act:
        def act(store: Any) -> str:
            asyncio.run(self.graph.delete(T, state_store=store))
            return "deleted"

        return act

    def fork(self, who: str) -> Act:
        paused_at = asyncio.run(self.graph.history(T)).checkpoints[1]

        def act(store: Any) -> str:
            asyncio.run(self.graph.fork(T, from_=paused_at, name=who, state_store=store))
            return "forked"

        return act


@pytest.fixture(params=["memory", "sqlite"])
def scenes(request, quick: Path) -> Iterator[Callable[[], Scene]]:
    """Makes a scene on a store of its own."""
    if request.param == "memory":
        yield lambda: Scene(InMemoryStateStore())
        return
    stores: list[SQLiteStateStore] = []

    def made() -> Scene:
        while stores:
            stores.pop().close()
        for file in quick.glob("t.db*"):
            file.unlink()
        stores.append(SQLiteStateStore(quick / "t.db"))
        return Scene(Instant(stores[-1]))

    yield made
    stores.pop().close()


def outcomes(scenes: Callable[[], Scene], *whats: str, ready: bool = False) -> Iterator[tuple[Scene, list[str]]]:
    """For every order of these callers' operations what came of each, and what is left."""
    for order in every_order():
        scene = scenes()
        if ready:
            asyncio.run(scene.graph.answer(T, {"ask:ok": "early"}))
        acts = [getattr(scene, what)(who) for what, who in zip(whats, WHO, strict=False)]
        try:
            yield scene, play(acts, scene.store, order)
        except AssertionError as error:
            error.add_note(str(order))
            raise


def test_of_two_resumes_one_has_an_effect_in_every_order(scenes):
    seen = set()
    for scene, results in outcomes(scenes, "resume", "resume"):
        seen.add(tuple(results))
        assert results.count("completed") == 1
        assert {*results} - {"completed"} <= REFUSED
        winner = ("anna", "ben")[results.index("completed")]
        assert scene.effects == scene.decisions == [winner]
        assert scene.types.count("answered") == scene.types.count("run_completed") == 1
        assert scene.status() == "completed"
    assert len(seen) == 4, "each may win, and its opponent hears that it is busy or that nothing is asked"


WORDS = {
    "resume": {"completed", *REFUSED},
    "answer": {"recorded", *REFUSED},
    "go": {"completed", *REFUSED},
    "turn": {"interrupted", *REFUSED},
    "edit": {"edited", *REFUSED},
    "cancel": {"cancelled", "ResumeError"},
    "delete": {"deleted", "ThreadBusyError"},
    "fork": {"forked"},
}
"""What may come of each."""

SLOW = [("fork", "fork"), ("resume", "fork")]
"""Pairs with many orders."""

PAIRS = [
    pytest.param(
        *pair,
        ready,
        id=f"{'-'.join(pair)}{'-of a ready thread' if ready else ''}",
    )
    for ready in (False, True)
    for pair in combinations_with_replacement(WORDS, 2)
    if pair not in SLOW and not (ready and "fork" in pair)
]


@pytest.mark.parametrize(("one", "other", "ready"), PAIRS)
def test_two_callers_in_every_order(one, other, ready):
    """Whatever meets whatever: at most one effect, with the answer that is kept, and only typed errors."""
    gone = {"UnknownThreadError"} if "delete" in (one, other) else set()
    stopped = STOPPED if {"cancel", "delete"} & {one, other} else set()
    for scene, results in outcomes(lambda: Scene(InMemoryStateStore()), one, other, ready=ready):
        for what, result in zip((one, other), results, strict=True):
            assert result in WORDS[what] | gone | stopped, f"{what}: {result}"
        check(scene, (one, other), results, ready)


def check(scene: Scene, whats: tuple[str, ...], results: list[str], ready: bool) -> None:
    """What is left is what the callers were told."""
    effects = {1} if "completed" in results else {0, 1} if STOPPED & {*results} else {0}
    assert len(scene.effects) in effects
    if "deleted" in results:
        assert scene.decisions == []
        return
    answered = [
        who
        for who, what, result in zip(WHO, whats, results, strict=False)
        if what in ("resume", "answer") and result in ("completed", "recorded", *STOPPED)
    ]
    assert scene.decisions == (["early"] if ready else answered)
    assert {*scene.effects} <= {*scene.decisions}
    assert not scene.store.head(T, "main").live
    types = scene.types
    for word, type in (("completed", "run_completed"), ("cancelled", "cancelled"), ("edited", "state_updated")):
        assert types.count(type) == results.count(word)


class Moments:
    """Takes down what a reader would see after every write of a store."""

    def __init__(self) -> None:
        self.store = InMemoryStateStore(clock=StillClock())
        self.view: Callable[[Any], Any] = lambda store: None
        self.views: list[Any] = []

    def look(self) -> None:
        with suppress(UnknownThreadError):
            self.views.append(self.view(self.store))

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.store, name)
        if name not in ("commit", "delete_rows"):
            return found

        def write(*args: Any) -> Any:
            done = found(*args)
            self.look()
            return done

        return write


VIEWS: dict[str, Callable[[Threads], Any]] = {
    "history": lambda store: at_once(store.history(T)),
    "load": lambda store: at_once(store.load(T)),
    "branches": lambda store: at_once(store.branches(T)),
    "pending": lambda store: at_once(store.pending(T)),
    "threads": lambda store: at_once(store.threads()),
    "audit": lambda store: at_once(store.audit(T)),
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("writer", ["resume", "answer", "edit", "cancel", "delete"])
def test_a_reader_sees_a_thread_between_two_of_its_commits_in_every_order(view, writer):
    """Or hears that there is none."""
    for order in every_order():
        moments = Moments()
        scene = Scene(moments)
        moments.view = VIEWS[view]
        moments.look()
        read: list[Any] = []

        def reads(store: Any, read: list[Any] = read) -> str:
            read.append(VIEWS[view](Instant(store)))
            return "read"

        result, _ = play([reads, getattr(scene, writer)("anna")], moments, order)
        assert result in {"read", "UnknownThreadError"}
        assert all(seen in moments.views for seen in read), order
