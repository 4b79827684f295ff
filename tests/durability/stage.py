"""A deterministic scheduler: actors on threads of their own, of which one goes on at a time, from one operation of a store
to its next. So every order of their operations can be played, one after the other.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import Any, TypeAlias, TypeVar

from nodestep.threads import Threads

T = TypeVar("T")

PATIENCE_S = 20.0

OPERATIONS = frozenset(
    {
        "commit",
        "read",
        "head",
        "records",
        "questions",
        "branch_rows",
        "thread_rows",
        "audit_rows",
        "delete_rows",
        "prune_rows",
    }
)

Choose: TypeAlias = Callable[[int], int]
"""Which of so many actors goes on."""
Act: TypeAlias = Callable[[Any], str]
"""What an actor does with its store; returns what came of it."""


class Actor:
    """One thread. It waits before each operation of its store until it is let go on."""

    def __init__(self, act: Act, store: Any) -> None:
        self.result = ""
        self.steps: list[str] = []
        self._act = act
        self._seen = Stepwise(store, self)
        self._go = threading.Semaphore(0)
        self._stopped = threading.Semaphore(0)
        self._over = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self.wait()

    @property
    def over(self) -> bool:
        return self._over

    def wait(self) -> None:
        """Until it stands before an operation, or has ended."""
        assert self._stopped.acquire(timeout=PATIENCE_S), f"hangs after {self.steps}"

    def step(self) -> None:
        """Let it make the operation that it stands before, and all up to its next."""
        self._go.release()
        self.wait()

    def stop_before(self, operation: str) -> None:
        self.steps.append(operation)
        self._stopped.release()
        assert self._go.acquire(timeout=PATIENCE_S), "nobody lets it go on"

    def _run(self) -> None:
        try:
            self.result = self._act(self._seen)
        except BaseException as error:
            self.result = type(error).__name__
        finally:
            self._over = True
            self._stopped.release()


class Stepwise:
    """A store as one actor has it."""

    def __init__(self, store: Any, actor: Actor) -> None:
        self._store = store
        self._actor = actor

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        if name not in OPERATIONS:
            return found

        def operation(*args: Any, **kwargs: Any) -> Any:
            self._actor.stop_before(name)
            return found(*args, **kwargs)

        return operation


class Instant(Threads):
    """A store that says it never waits, so that every call on it is made in the caller's own thread, and at once."""

    instant = True

    def __init__(self, store: Any) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def _store_for(self, state_store: Any) -> Any:
        return self if state_store is None else state_store


def at_once(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that waits for nothing, since its store does not."""
    try:
        work.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    raise AssertionError("it waits")


def play(acts: Sequence[Act], store: Any, choose: Choose) -> list[str]:
    """Let the actors go on in the order that is chosen; returns what came of each."""
    actors = [Actor(act, store) for act in acts]
    while waiting := [actor for actor in actors if not actor.over]:
        waiting[choose(len(waiting))].step()
    return [actor.result for actor in actors]


def every_order() -> Iterator[Choose]:
    """A chooser for each order there is. Each must be used for one play before the next is asked for."""
    unplayed: list[list[int]] = [[]]
    while unplayed:
        order = _Order(unplayed.pop())
        yield order
        unplayed.extend(order.others())


class _Order:
    """Follows a beginning and then always takes the first; notes where it could have gone elsewhere."""

    def __init__(self, beginning: list[int]) -> None:
        self._beginning = beginning
        self._taken: list[int] = []
        self._choices: list[int] = []

    def __call__(self, count: int) -> int:
        at = len(self._taken)
        self._taken.append(self._beginning[at] if at < len(self._beginning) else 0)
        self._choices.append(count)
        return self._taken[at]

    def others(self) -> Iterator[list[int]]:
        for at in range(len(self._beginning), len(self._taken)):
            for other in range(1, self._choices[at]):
                yield [*self._taken[:at], other]

    def __repr__(self) -> str:
        return f"order {self._taken}"
