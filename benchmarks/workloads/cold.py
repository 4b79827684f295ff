"""W8: a thread with a history waits at a question; a new process opens the store, builds the graph and answers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import work
from children import cold_resume
from graphs import Chat, SQLiteStateStore, chain_to_a_question, chat, three_deep
from harness import Row, workload


def _small(path: str, steps: int) -> None:
    with SQLiteStateStore(path) as store:
        paused = chain_to_a_question(steps, store).invoke(work.small_input(), thread_id="t")
    assert paused.status == "interrupted"


def _chat(path: str, steps: int) -> None:
    with SQLiteStateStore(path) as store:
        paused = chat(Chat, steps, store, asks=True).invoke({"n": 0, "messages": []}, thread_id="t")
    assert paused.status == "interrupted"


def _nested(path: str, steps: int) -> None:
    with SQLiteStateStore(path) as store:
        paused = three_deep(chain_to_a_question(steps), store).invoke(work.small_input(), thread_id="t")
    assert paused.status == "interrupted"


@workload("W8.small")
def small() -> list[Row]:
    return _rows(_small, "")


@workload("W8.chat")
def with_a_chat() -> list[Row]:
    return _rows(_chat, "chat")


@workload("W8.nested")
def three_graphs_deep() -> list[Row]:
    return _rows(_nested, "nested")


def _rows(make: Callable[..., None], variant: str) -> list[Row]:
    end = f".{variant}" if variant else ""
    return [
        {"workload": f"W8.h{steps}{end}", **cold_resume(partial(make, steps=steps), steps, variant)}
        for steps in work.HISTORIES
    ]
