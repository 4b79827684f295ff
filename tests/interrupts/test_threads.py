"""Several threads of one node ask and charge at the same time: nothing gets lost between them."""

from __future__ import annotations

import contextvars
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from nodestep import END, START, Graph, GraphExecutionError, NodeContext, Retry, interrupt, node
from tests.asking import lone

THREADS = 24
ROUNDS = 30
PATIENCE_S = 60.0


@pytest.fixture(autouse=True)
def eager_switches() -> Iterator[None]:
    """Threads take turns as often as the interpreter allows."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-7)
    yield
    sys.setswitchinterval(before)


def at_once(act: Callable[[int], Any]) -> list[BaseException | None]:
    """Call `act` in threads that start together and carry the caller's context; returns what each raised."""
    barrier = threading.Barrier(THREADS)
    raised: list[BaseException | None] = [None] * THREADS

    def run(number: int) -> None:
        try:
            barrier.wait(PATIENCE_S)
            act(number)
        except BaseException as error:
            raised[number] = error

    threads = [threading.Thread(target=contextvars.copy_context().run, args=(run, number)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
        assert not thread.is_alive()
    assert not any(isinstance(error, threading.BrokenBarrierError) for error in raised)
    return raised


def test_every_question_that_threads_ask_at_once_is_in_the_pause(store):
    def body(state):
        signals = at_once(lambda number: interrupt(number, id=f"q{number}"))
        raise next(signal for signal in signals if signal is not None)

    graph = lone(body, store)
    for round in range(ROUNDS):
        paused = graph.invoke({}, thread_id=f"t{round}")
        assert sorted(asked.payload for asked in paused.interrupts.values()) == list(range(THREADS))


def test_an_id_that_threads_ask_at_once_is_used_twice(store):
    def body(state):
        raised = at_once(lambda number: interrupt(number, id="same"))
        refused = [error for error in raised if isinstance(error, GraphExecutionError)]
        assert len(refused) == THREADS - 1

    for round in range(5):
        with pytest.raises(GraphExecutionError, match="'same' twice"):
            lone(body, store).invoke({}, thread_id=f"t{round}")


def test_what_threads_charge_at_once_is_charged_once(store):
    for round in range(5):
        charged: list[int] = []

        def body(state: dict, ctx: NodeContext, charged: list[int] = charged) -> None:
            assert at_once(lambda number: ctx.once(f"charge{number}", charged.append, number)) == [None] * THREADS
            if ctx.attempt == 1:
                raise OSError("no disk")

        trying = node(body, name="ask", retry=Retry(2, initial_delay_s=0))
        Graph(dict, state_store=store).flow(START >> trying >> END).invoke({}, thread_id=f"t{round}")
        assert sorted(charged) == list(range(THREADS))
