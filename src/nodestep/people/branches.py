"""Branches of a thread: a fork is a row that knows where its parent stood; it copies no events."""

from __future__ import annotations

from itertools import count

from ..engine.fork import fork_entry
from ..errors import GraphConfigError, UnknownThreadError
from ..model.event import instant
from ..model.ids import event_id
from ..model.limits import check_id
from ..model.records import BranchRecord
from ..stores.base import ForkOf, ListedBranch, QuestionRow, Receipt, StateStore, Write
from .reading import load_branch
from .rows import question_row


def branches(store: StateStore, thread_id: str) -> list[BranchRecord]:
    """The branches of a thread, oldest first. Raises UnknownThreadError."""
    check_id("thread_id", thread_id)
    rows = store.branch_rows(thread_id)
    if not rows:
        raise UnknownThreadError(thread_id)
    return [_record(row) for row in rows]


def fork(
    store: StateStore, thread_id: str, branch_id: str = "main", *, from_: str, name: str | None = None
) -> BranchRecord:
    """A new branch that stands where this one stood at an event. Without a name it is `fork-1`, `fork-2` and so on."""
    if name is not None:
        check_id("branch_id", name)
    loaded = load_branch(store, thread_id, branch_id, from_)
    record, status, questions = fork_entry(loaded.checkpoint.position, from_)
    opens: tuple[QuestionRow, ...] = tuple(question_row(found, listing) for found, listing in questions)
    taken = {row.head.branch_id for row in store.branch_rows(thread_id)}
    for number in count(1):
        branch = name if name is not None else f"fork-{number}"
        if branch in taken:
            if name is not None:
                break
            continue
        guard = ForkOf(loaded.head.no, loaded.sequence)
        (answer,) = store.commit([Write(thread_id, branch, guard, status, record, opens=opens)])
        if isinstance(answer, Receipt):
            return BranchRecord(branch, thread_id, branch_id, from_, instant(answer.at_ms))
        if name is not None:
            break
    raise GraphConfigError(
        f"Thread {thread_id!r} has a branch {name!r} already. Choose another name; nothing was forked."
    )


def _record(row: ListedBranch) -> BranchRecord:
    origin = None
    if row.parent_no is not None and row.fork_sequence is not None:
        origin = event_id(row.parent_no, row.fork_sequence)
    head = row.head
    return BranchRecord(head.branch_id, head.thread_id, row.parent_branch_id, origin, instant(head.created_at_ms))
