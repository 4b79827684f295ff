"""What the tests of runs share: graphs of one asking node, and refusals that must change nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from nodestep import END, START, Graph, node
from nodestep.stores.base import StateStore


def lone(body: Callable[..., Any], store: StateStore | None = None, **options: Any) -> Graph[dict[str, Any]]:
    """A graph over a plain dict whose only node, `ask`, has this body."""
    return Graph(dict, name="lone", state_store=store, **options).flow(START >> node(body, name="ask") >> END)


def kept(store: StateStore, thread: str = "t", branch: str = "main") -> object:
    """Everything that a store holds of a branch, to be compared with what it holds later."""
    stored = store.read(thread, branch)
    if stored is None:
        return None
    return stored.head, store.records(thread, branch), stored.questions


@contextmanager
def refusal(
    store: StateStore,
    error: type[BaseException],
    *words: str,
    ran: list[Any] | None = None,
    thread: str = "t",
    branch: str = "main",
) -> Iterator[pytest.ExceptionInfo[BaseException]]:
    """Exactly this error, whose message has these words; the branch stays as it was, and `ran`, where nodes and hooks
    note that they were entered, does not grow."""
    before, runs = kept(store, thread, branch), list(ran or ())
    with pytest.raises(error) as caught:
        yield caught
    assert type(caught.value) is error
    for word in words:
        assert word in str(caught.value)
    assert kept(store, thread, branch) == before
    assert list(ran or ()) == runs
