"""What stands in the place of a protection that is switched off: for each a function that gets what stands there."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from msgspec import structs


@dataclass(frozen=True)
class Patch:
    """Puts something else in the place of `module:name`; `make` gets what stands there."""

    where: str
    make: Callable[[Any], Any]

    def apply(self) -> None:
        module, _, path = self.where.partition(":")
        holder: Any = import_module(module)
        *outer, name = path.split(".")
        for part in outer:
            holder = getattr(holder, part)
        setattr(holder, name, self.make(getattr(holder, name)))


def does_nothing(_: Any) -> Any:
    return lambda *args, **kwargs: None


def always(value: Any) -> Callable[[Any], Any]:
    return lambda _: lambda *args, **kwargs: value


def asks_again(_: Any) -> Any:
    """The model asked with every attempt."""
    return lambda turn, request: turn._answer(request)


def admits_all(admit: Any) -> Any:
    """A guard that lets every write to an existing branch pass, save one that wants to make it."""

    def admitted(self: Any, write: Any, branch: Any) -> Any:
        return None if type(write.guard).__name__ in ("New", "ForkOf") else branch

    return admitted


def forgets_epochs(admit: Any) -> Any:
    """A guard that compares everything but the epoch."""

    def admitted(self: Any, write: Any, branch: Any) -> Any:
        guard = write.guard
        if hasattr(guard, "epoch"):
            write = structs.replace(write, guard=structs.replace(guard, epoch=branch.epoch))
        return admit(self, write, branch)

    return admitted


def append_without_epoch(queries: Any) -> Any:
    def read(dialect: str) -> Any:
        found = queries(dialect)
        return structs.replace(found, append_record=found.append_record.replace("epoch = ?6", "?6 = ?6"))

    return read


def claims_without_comparing(queries: Any) -> Any:
    """A row is changed whatever stands in it."""

    def read(dialect: str) -> Any:
        found = queries(dialect)
        loose = found.change_branch.replace(
            "AND epoch = ?11 AND known_sequence = ?12 AND checksum = ?13", "AND ?11 + ?12 + ?13 >= 0"
        )
        assert loose != found.change_branch
        return structs.replace(found, change_branch=loose)

    return read


def unchecked_record(_: Any) -> Any:
    from nodestep.stores.base import Record
    from nodestep.stores.rows import LAST_SEQUENCE, SEQUENCE_BITS

    return lambda row: Record(row[0] >> SEQUENCE_BITS, row[0] & LAST_SEQUENCE, row[1], row[4], row[2])


def settled_loosely(settle: Any) -> Any:
    def settled(raw: Any, **options: Any) -> None:
        settle(raw, **options)
        raw.pragma("synchronous", "NORMAL")

    return settled


def no_deadlines(_: Any) -> Any:
    return lambda position, now_ms: (tuple(position.open_questions()), ())


def same_for_all_rounds(key: Any) -> Any:
    return lambda origin, superstep, path, task: key(origin, 0, path, task)


def before_or_after(transaction: Any) -> Any:
    """Each statement by itself, with nothing undone."""

    def write(self: Any, work: Any) -> Any:
        return work(self._writing())

    return write


def unchecked_arguments(check_arguments: Any) -> Any:
    from nodestep.agents.arguments import Checked

    return lambda tool, arguments: Checked(arguments, arguments)


def loses_odd_letters(_: Any) -> Any:
    return lambda call_id, number=1: re.sub(r"[^A-Za-z0-9_-]", "_", call_id) + (f"..{number}" if number > 1 else "")


def takes_any_question(_: Any) -> Any:
    return lambda self, asked, ready, current: next((id for id, _ in asked), None)


def approves_what_is_true(read_decision: Any) -> Any:
    from nodestep.middleware.decisions import APPROVED

    return lambda answer: APPROVED if answer and not isinstance(answer, dict) else read_decision(answer)


def lets_pass_what_raises(_: Any) -> Any:
    def must_ask(match: Any, arguments: Any) -> bool:
        try:
            return match is None or bool(match(arguments))
        except Exception:
            return False

    return must_ask


def clears_all(_: Any) -> Any:
    from nodestep.agents.approving import Cleared

    return lambda approvals, id, ready: Cleared(ready.tool, ready.arguments)


def every_call(_: Any) -> Any:
    return lambda self: frozenset(task.id for task in self.frame.due)


def begins_anew(_: Any) -> Any:
    """A frame that is stored is opened as if it were new, with its state as it is."""

    def begun(run: Any, at: Any) -> None:
        stored = run.stored.pop(at.path)
        nested = import_module("nodestep.runtime.nested")
        nested._open(run, at, at.schema.load(stored.state))

    return begun
