"""What can be asked of stored threads: the methods that a graph and a store share.

Each asks `people` in a thread of ours, so that a store's disk never blocks the caller's event loop. What most programs never
ask is loaded when it is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from .model.interrupt import Interrupt
from .model.json import JsonObject
from .model.status import Status
from .runtime.pool import STORES
from .stores.base import StateStore

if TYPE_CHECKING:
    from .model.event import History
    from .model.page import Page
    from .model.records import AnswerRecord, BranchRecord, ThreadRecord

T = TypeVar("T")


async def ask(store: StateStore, query: Callable[[], T]) -> T:
    """The result of a query that may block."""
    return query() if store.instant else await STORES.run(query)


class Threads:
    """Stored threads, asked for without running anything. Every method raises UnknownThreadError for a thread or branch
    that the store does not have, unless it says otherwise."""

    def _store_for(self, state_store: StateStore | None) -> StateStore:
        raise NotImplementedError

    async def exists(self, thread_id: str, *, branch_id: str = "main", state_store: StateStore | None = None) -> bool:
        """Whether the store has the branch."""
        from .people import history as past

        store = self._store_for(state_store)
        return await ask(store, lambda: past.exists(store, thread_id, branch_id))

    async def history(
        self, thread_id: str, *, branch_id: str = "main", state_store: StateStore | None = None
    ) -> History:
        """Every event of the branch, oldest first."""
        from .people import history as past

        store = self._store_for(state_store)
        return await ask(store, lambda: past.history(store, thread_id, branch_id))

    async def load(
        self,
        thread_id: str,
        at: str | None = None,
        *,
        branch_id: str = "main",
        state_store: StateStore | None = None,
    ) -> JsonObject:
        """The state as JSON values, now or at the event with the id `at`. It needs neither the graph nor its types; a
        field that the state type no longer has is still there. `"<event>/<path>"` (a `nested_checkpoint_id`) is the state
        of the graph that was at work inside a task then. Raises UnknownEventError for an unknown or pruned event, and for
        a path where no graph was.
        """
        from .people import history as past

        store = self._store_for(state_store)
        return await ask(store, lambda: past.load(store, thread_id, branch_id, at))

    async def pending(
        self,
        thread_id: str | None = None,
        *,
        branch_id: str | None = None,
        graph: str | None = None,
        assignee: str | None = None,
        older_than: timedelta | None = None,
        limit: int = 100,
        after: str | None = None,
        state_store: StateStore | None = None,
    ) -> Page[Interrupt]:
        """A page of open questions over all threads, oldest first; on all branches unless one is named.

        `graph` and `assignee` keep those of one graph or person, `older_than` those asked longer ago. `limit` is 1 to
        1,000; pass the page's `next` as `after` for the following one. An unknown thread has no questions.
        """
        from .people import inbox

        store = self._store_for(state_store)

        def query() -> Page[Interrupt]:
            return inbox.pending(
                store,
                thread_id,
                branch_id=branch_id,
                graph=graph,
                assignee=assignee,
                older_than=older_than,
                limit=limit,
                after=after,
            )

        return await ask(store, query)

    async def answer(
        self,
        thread_id: str,
        answers: Mapping[str, Any],
        *,
        branch_id: str = "main",
        pause: int | Mapping[str, int] | None = None,
        by: str | None = None,
        note: str | None = None,
        state_store: StateStore | None = None,
    ) -> tuple[str, ...]:
        """Record answers by question key, without running anything; returns the keys that are still open.

        When none is, the thread is ready: `invoke(None, thread_id=...)` continues it. `pause` refuses the answer when a
        question it meets belongs to another pause; `by` and `note` are kept with it. Raises ResumeError for a key that is
        not open or a thread that waits for nothing, ThreadBusyError while a run works on it.
        """
        from .people import inbox

        store = self._store_for(state_store)

        def query() -> tuple[str, ...]:
            return inbox.answer(store, thread_id, answers, branch_id=branch_id, pause=pause, by=by, note=note)

        return await ask(store, query)

    async def branches(self, thread_id: str, *, state_store: StateStore | None = None) -> list[BranchRecord]:
        """The branches of a thread, oldest first."""
        from .people import branches

        store = self._store_for(state_store)
        return await ask(store, lambda: branches.branches(store, thread_id))

    async def fork(
        self,
        thread_id: str,
        *,
        from_: str,
        name: str | None = None,
        branch_id: str = "main",
        state_store: StateStore | None = None,
    ) -> BranchRecord:
        """A new branch that stands where `branch_id` stood at the event with the id `from_`; the original is untouched.

        It copies no events, and can be continued, or answered, like the original; where it does not stand in a pause it
        takes new input as well. Without a `name` it is `fork-1`, `fork-2` and so on. Raises UnknownEventError for an
        unknown or pruned event, GraphConfigError for a name that is taken.
        """
        from .people import branches

        store = self._store_for(state_store)
        return await ask(store, lambda: branches.fork(store, thread_id, branch_id, from_=from_, name=name))

    async def threads(
        self,
        *,
        graph: str | None = None,
        status: Status | str | None = None,
        limit: int = 100,
        after: str | None = None,
        state_store: StateStore | None = None,
    ) -> Page[ThreadRecord]:
        """A page of threads, newest first, each with the status of its `"main"` branch: `running`, `unfinished` (cut off),
        `interrupted`, `ready`, `failed`, `completed` or `cancelled`. `limit` is 1 to 1,000."""
        from .people import listing

        store = self._store_for(state_store)
        return await ask(store, lambda: listing.threads(store, graph=graph, status=status, limit=limit, after=after))

    async def audit(
        self,
        thread_id: str | None = None,
        *,
        limit: int = 100,
        after: str | None = None,
        state_store: StateStore | None = None,
    ) -> Page[AnswerRecord]:
        """A page of decisions over all threads, or of one, oldest first: what was answered, by whom, why, when and from
        where. It outlives `prune`. `limit` is 1 to 1,000. An unknown thread has no decisions."""
        from .people import audit as decisions

        store = self._store_for(state_store)
        return await ask(store, lambda: decisions.audit(store, thread_id, limit=limit, after=after))

    async def cancel(
        self,
        thread_id: str,
        *,
        reason: str | None = None,
        branch_id: str = "main",
        state_store: StateStore | None = None,
    ) -> None:
        """End a thread where it stands: its questions close, and a run that works on it stops at its next write with
        ThreadCancelledError. A new input starts another turn. Raises ResumeError for one that is over already."""
        from .people import upkeep

        store = self._store_for(state_store)
        await ask(store, lambda: upkeep.cancel(store, thread_id, branch_id, reason=reason))

    async def delete(self, thread_id: str, *, state_store: StateStore | None = None) -> None:
        """Drop a thread with all its branches and their audit. Raises ThreadBusyError while a run works on one of them."""
        from .people import upkeep

        store = self._store_for(state_store)
        await ask(store, lambda: upkeep.delete(store, thread_id))

    async def prune(
        self, thread_id: str, *, keep: int, branch_id: str = "main", state_store: StateStore | None = None
    ) -> None:
        """Free what is older than the newest `keep` supersteps of a branch. Where it stands, its questions, its forks and
        the audit stay; asking for a pruned event raises UnknownEventError."""
        from .people import upkeep

        store = self._store_for(state_store)
        await ask(store, lambda: upkeep.prune(store, thread_id, branch_id, keep=keep))
