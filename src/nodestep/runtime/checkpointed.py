"""`Graph.run`: which call its arguments and the thread as it stands amount to, and a pause told as an exception."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from msgspec import Struct

from ..engine.answer import open_and_expired
from ..errors import GraphConfigError, ResumeError, RunInterruptedError, UnknownThreadError, did_you_mean
from ..model.blueprint import Blueprint
from ..model.ids import event_id, split_key
from ..model.interrupt import MISSING, Interrupt, Resume
from ..model.node import NodeSpec
from ..model.position import ROOT, Position
from ..people.reading import load_branch, standing
from ..people.rows import interrupt_at
from ..stores.base import StateStore, Status
from .blocking import AsyncDoor

_NESTED_ID = re.compile(r"([1-9][0-9]*)-[1-9][0-9]*/.+")
_NUMBERED = re.compile(r"\[[0-9]+\]$")


class Way(NamedTuple):
    """How a call goes on with its thread: with an input, with answers, or with neither."""

    input: Any
    resume: Resume | None


class _Standing(Struct, frozen=True):
    status: Status
    event: str
    interrupts: dict[str, Interrupt]
    """What still waits for an answer."""
    keys: tuple[str, ...]
    """The same with the questions whose deadline has passed."""
    position: Position


async def way_on(blueprint: Blueprint, store: StateStore | None, thread_id: str | None, state: Any, resume: Any) -> Way:
    """What `run` does now. Raises RunInterruptedError for a paused thread without `resume`, ResumeError for a dict whose
    names are not those of open questions, GraphConfigError for the id of an inner checkpoint."""
    stands = None
    if store is not None and thread_id is not None:
        stands = await AsyncDoor().ask_store(store, lambda: _look(store, thread_id))
    if resume is not MISSING:
        return Way(None, _as_resume(blueprint, resume, () if stands is None else stands.keys))
    if stands is None or stands.status in (Status.COMPLETED, Status.CANCELLED):
        return Way(state, None)
    if stands.status is Status.INTERRUPTED and thread_id is not None:
        raise paused(blueprint, thread_id, stands.interrupts, stands.event, stands.position)
    return Way(None, None)


def paused(
    blueprint: Blueprint,
    thread_id: str,
    interrupts: Mapping[str, Interrupt],
    event: str | None,
    position: Position,
) -> RunInterruptedError:
    """A pause as `run` raises it; `event` is the last one of the thread, `position` where it stands."""
    error = RunInterruptedError(thread_id, interrupts)
    asked = position.asked().get(error.key)
    path = ROOT if asked is None else position.graph_of(asked.path)
    if path:
        error.nested_checkpoint_id = f"{event}/{path}"
    error.key = declared_field(blueprint, error.key) or error.key
    return error


def declared_field(blueprint: Blueprint, key: str) -> str | None:
    """The field that the answer to a question is written to, where a declared node asked it."""
    path, task, id = split_key(key)
    for outer in path.split("/") if path else ():
        spec = _spec_of(blueprint, outer)
        if spec is None or spec.inner is None:
            return None
        blueprint = spec.inner.blueprint
    spec = _spec_of(blueprint, task)
    return id if spec is not None and spec.interrupt is not None and spec.interrupt.key == id else None


def _spec_of(blueprint: Blueprint, task: str) -> NodeSpec | None:
    return blueprint.nodes.get(blueprint.name_now(_NUMBERED.sub("", task)))


def _look(store: StateStore, thread_id: str) -> _Standing | None:
    try:
        loaded = load_branch(store, thread_id, "main")
    except UnknownThreadError:
        _refuse_nested(store, thread_id)
        return None
    head, position = loaded.head, loaded.checkpoint.position
    still, _ = open_and_expired(position, store.now_ms())
    status, every = standing(head), position.open_questions()
    if status is Status.INTERRUPTED and not still:
        status = Status.READY
    interrupts = {key: interrupt_at(head, every[key], position.listed[key]) for key in still}
    return _Standing(status, event_id(head.no, head.sequence), interrupts, tuple(every), position)


def _refuse_nested(store: StateStore, thread_id: str) -> None:
    found = _NESTED_ID.fullmatch(thread_id)
    if found is None:
        return
    outer = next(
        (repr(head.thread_id) for head in _threads(store) if head.no == int(found[1])), "the outermost thread's id"
    )
    raise GraphConfigError(
        f"checkpoint_id={thread_id!r} is the id of an inner checkpoint, and a run goes on with its outermost thread. Pass "
        f"checkpoint_id={outer}; load(thread, at={thread_id!r}) shows the inner state."
    )


def _threads(store: StateStore) -> Iterable[Any]:
    after = None
    while heads := store.thread_rows(limit=1000, after=after):
        yield from heads
        after = heads[-1].no


def _as_resume(blueprint: Blueprint, resume: Any, keys: tuple[str, ...]) -> Resume:
    if isinstance(resume, Resume):
        return resume
    if not isinstance(resume, Mapping):
        return Resume(resume)
    if not keys:
        return Resume(answers=resume)  # there is nothing to answer, and the call will say so
    answers: dict[str, Any] = {}
    for name, value in resume.items():
        key = _key_of(blueprint, name, keys)
        if key in answers:
            raise _refused(f"resume= answers {key!r} twice", blueprint, keys)
        answers[key] = value
    return Resume(answers=answers)


def _key_of(blueprint: Blueprint, name: Any, keys: tuple[str, ...]) -> str:
    if name in keys:
        return str(name)
    meant = [key for key in keys if declared_field(blueprint, key) == name]
    if len(meant) == 1:
        return meant[0]
    if meant:
        raise _refused(f"resume= names the field {name!r}, which {len(meant)} open questions write", blueprint, keys)
    names = [*keys, *(field for key in keys if (field := declared_field(blueprint, key)) is not None)]
    near = did_you_mean(name, names) if isinstance(name, str) else ""
    raise _refused(f"resume= names {name!r}, which is no open question's key or field", blueprint, keys, near)


def _refused(what: str, blueprint: Blueprint, keys: tuple[str, ...], near: str = "") -> ResumeError:
    listed = ", ".join(
        f"{key!r}{'' if (field := declared_field(blueprint, key)) is None else f' (field {field!r})'}" for key in keys
    )
    return ResumeError(
        f"{what}. Nothing ran. Open: {listed}.{near} A dict maps keys or fields to answers; to answer with a dict itself, "
        "write resume=Resume({...})."
    )
