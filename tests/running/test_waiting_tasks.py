"""Tasks that have not begun, or wait to be tried again, when the run stops: they do not run any more."""

from __future__ import annotations

import asyncio
import threading

import pytest

from nodestep import END, START, NodeTimeoutError, Retry, Send

from .making import Log, does, of, returns, run, says, soon

MANY = 1000
"""Far more than there are threads for nodes."""


class Crowd:
    """Plain tasks of which only some find a thread; those wait until they are let go."""

    def __init__(self) -> None:
        self.began: list[int] = []
        self.full = threading.Event()
        self.go = threading.Event()

    def body(self, state: Log):
        self.began.append(state.n)
        if len(self.began) >= 100:
            self.full.set()
        soon(self.go)
        return {"log": ["x"]}

    def graph(self, **options):
        sends = [Send("item", {"n": n}) for n in range(MANY)]
        return of(START >> returns("plan", sends, goto=["item"]), does("item", self.body, **options) >> END)

    def all_began(self) -> bool:
        """Whether every task began, once all threads have had the time to begin another."""
        self.go.set()
        # As many more tasks as there are threads: they come after everything that still waits.
        met = threading.Barrier(50)
        of(
            START >> [does(f"n{i}", lambda state: (met.wait(20), None)[1]) for i in range(50)] >> says("z") >> END
        ).invoke({})
        return len(self.began) == MANY


def test_plain_tasks_that_wait_for_a_thread_never_begin_once_the_call_is_cancelled(store):
    crowd = Crowd()

    async def cancelled() -> None:
        call = asyncio.ensure_future(crowd.graph().ainvoke({}, thread_id="t", state_store=store))
        await asyncio.to_thread(soon, crowd.full)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    run(cancelled())
    assert not crowd.all_began()


def test_plain_tasks_whose_timeout_passes_before_they_found_a_thread_never_begin():
    crowd = Crowd()
    with pytest.raises(NodeTimeoutError):
        crowd.graph(timeout=0.5).invoke({})

    assert not crowd.all_began()


@pytest.mark.parametrize("form", ["plain", "async"])
def test_a_task_that_waits_to_be_tried_again_is_not_once_the_run_stops(form, store):
    tried: list[int] = []
    failed = threading.Event()

    def flaky(state: Log):
        tried.append(1)
        failed.set()
        raise ConnectionError("no route")

    async def flaky_too(state: Log):
        flaky(state)

    def fails(state: Log):
        soon(failed)
        raise ValueError("no")

    again = does("a", flaky if form == "plain" else flaky_too, retry=Retry(3, initial_delay_s=1, jitter=False))
    with pytest.raises((ValueError, ConnectionError)):
        of(START >> [again, does("b", fails)] >> says("c") >> END, state_store=store).invoke({}, thread_id="t")

    assert tried == [1]
