"""Tasks of an event loop that go on when a thread has done what they wait for."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Collection

import pytest

from nodestep.runtime.elsewhere import Elsewhere, all_go_on

from .making import PATIENCE_S, run


class Handed(Elsewhere[int]):
    """Notes the tasks that rest, and says 5 to all of them."""

    def __init__(self, rest: list[Handed]) -> None:
        super().__init__()
        self.rest = rest

    def hand_over(self) -> None:
        self.rest.append(self)

    def cancel(self, msg: str | None = None) -> bool:
        return False

    def result(self) -> int:
        return 5


async def waits(rest: list[Handed]) -> int:
    return await Handed(rest)


def in_a_thread(rest: Collection[Handed]) -> None:
    thread = threading.Thread(target=all_go_on, args=(rest,))
    thread.start()
    thread.join(PATIENCE_S)


def test_tasks_of_several_loops_go_on_at_once():
    rest: list[Handed] = []
    loops = [asyncio.new_event_loop() for _ in range(2)]
    tasks = [loop.create_task(waits(rest)) for loop in loops for _ in range(3)]
    for loop in loops:
        loop.run_until_complete(asyncio.sleep(0))

    in_a_thread(rest)

    assert [task.get_loop().run_until_complete(task) for task in tasks] == [5] * 6
    for loop in loops:
        loop.close()


def test_others_go_on_where_one_of_them_stops_the_loop():
    rest: list[Handed] = []
    loop = asyncio.new_event_loop()

    async def stops() -> None:
        await Handed(rest)
        raise KeyboardInterrupt

    stopping, *tasks = [loop.create_task(work) for work in (stops(), waits(rest), waits(rest))]
    loop.run_until_complete(asyncio.sleep(0))
    in_a_thread(rest)

    with pytest.raises(KeyboardInterrupt):
        loop.run_until_complete(asyncio.sleep(0))
    assert loop.run_until_complete(asyncio.gather(*tasks)) == [5, 5]
    assert isinstance(stopping.exception(), KeyboardInterrupt)
    loop.close()


def test_a_loop_that_was_closed_meanwhile_keeps_nobody_else_waiting():
    rest: list[Handed] = []
    closed = asyncio.new_event_loop()
    left = closed.create_task(waits(rest))
    closed.run_until_complete(asyncio.sleep(0))
    left.cancel()
    closed.close()

    async def other() -> int:
        task = asyncio.ensure_future(waits(rest))
        await asyncio.sleep(0)
        in_a_thread(rest)
        return await task

    assert run(other()) == 5
    left.get_coro().close()
